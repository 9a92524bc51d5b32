// The index as cases and trials, and the chunks with everything else, inflated when they are needed.

async function inflate(base64) {
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  // What is wrong with the data, the reader below says.
  writer.write(bytesOf(base64)).catch(() => {});
  writer.close().catch(() => {});
  const decoder = new TextDecoder(), parts = [];
  // Several times as fast as a blob and a response around the stream.
  for (const reader = stream.readable.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return parts.join('') + decoder.decode();
    parts.push(decoder.decode(value, { stream: true }));
  }
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const packed = atob(base64);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  return bytes;
}

/** The text of an inert element; null without one. */
function takeElement(id) {
  return document.getElementById(id)?.textContent ?? null;
}

// Smaller differences of scores are called the same.
const SCORE_STEP = 0.05;

/** Most characters of inflated chunks that are kept. */
const MOST_INFLATED = 200_000_000;

class Report {
  constructor(index) {
    Object.assign(this, index);
    this.cases = [];
    this.byKey = new Map();
    const columns = index.cases;
    for (let i = 0; i < columns.id.length; i++) this.add(new Case(this, columns, i));
    for (const past of this.past) past.label = moment(past.run.startedAt || past.run.id);
    this.graders = [...new Set(index.graderLists.flat())].map((name) => this.names[name]);
    this.targets = [...new Set(this.cases.map((it) => it.target))];
    this.tags = [...new Set(this.cases.flatMap((it) => it.tags))].sort();
    this.keys = [...new Set(this.cases.flatMap((it) => Object.keys(it.metadata)))].sort();
    this.chunks = new Map();
    this.inflated = new Map();
    this.inflatedSize = 0;
  }

  add(it) {
    // Keys are in addresses.
    const name = `${it.suite}/${clip(it.id)}@${it.target}`;
    let key = name;
    for (let n = 2; this.byKey.has(key); n++) key = `${name}~${n}`;
    it.key = key;
    this.byKey.set(key, it);
    this.cases.push(it);
  }

  /** Prompt, answers, transcripts and files of a case; null if the report leaves them out. */
  async details(it) {
    if (!it.detailsAt) return null;
    const [chunk, entry] = it.detailsAt;
    return (await this.chunk(chunk))[entry];
  }

  /** The entries of a chunk as JSON, each on a line of its own; kept for the next search, up to a limit. */
  async lines(number) {
    if (this.inflated.has(number)) return this.inflated.get(number);
    const loading = loadChunk(number).then((text) => {
      if (this.inflatedSize + text.length > MOST_INFLATED) this.inflated.delete(number);
      else this.inflatedSize += text.length;
      return text.slice(1, -1).split('\n,');
    });
    this.inflated.set(number, loading);
    loading.catch(() => this.inflated.delete(number));
    return loading;
  }

  /** Inflates all chunks, once. */
  async inflateAll() {
    if (this.inflating) return;
    this.inflating = true;
    const numbers = new Set(this.cases.filter((it) => it.detailsAt).map((it) => it.detailsAt[0]));
    // A chunk that cannot be read is reported by what needs it.
    for (const number of numbers) await this.lines(number).catch(() => {});
  }

  /** A chunk; the last few are kept. */
  async chunk(number) {
    let chunk = this.chunks.get(number);
    this.chunks.delete(number);
    chunk ||= this.lines(number).then((lines) => lines.map((line) => JSON.parse(line)));
    this.chunks.set(number, chunk);
    if (this.chunks.size > 6) this.chunks.delete(this.chunks.keys().next().value);
    return chunk;
  }
}

class Case {
  constructor(report, columns, i) {
    const name = (index) => report.names[index];
    this.i = i;
    this.id = columns.id[i];
    this.test = columns.test[i];
    this.suite = name(columns.suite[i]);
    this.target = name(columns.target[i]);
    this.agent = name(columns.agent[i]);
    this.file = name(columns.file[i]);
    this.line = columns.line[i];
    this.outcome = columns.outcome[i];
    this.flaky = columns.stability[i] === '~';
    this.score = columns.score[i];
    this.threshold = columns.threshold[i];
    this.passed = columns.passed[i];
    this.completed = columns.completed[i];
    this.planned = columns.planned[i];
    this.interval = columns.interval[i];
    this.rule = name(columns.rule[i]);
    this.code = name(columns.code[i]);
    this.reason = columns.reason[i];
    this.reasonAt = columns.reasonAt[i] && { file: name(columns.reasonAt[i][0]), line: columns.reasonAt[i][1] };
    this.tags = columns.tags[i].map(name);
    this.metadata = columns.metadata[i];
    this.graders = report.graderLists[columns.graders[i]].map(name);
    this.attempt = columns.runnerAttempt[i];
    this.answers = columns.answers[i];
    const uncounted = columns.uncounted[i] || { surplus: 0, confirming: [0, 0], cost: null, judgeCost: null, userCost: null };
    this.surplus = uncounted.surplus;
    this.confirming = uncounted.confirming;
    this.failedGraders = columns.failedGraders[i].map(name);
    this.detailsAt = columns.details[i];
    const first = columns.firstTrial[i];
    const end = i + 1 < columns.firstTrial.length ? columns.firstTrial[i + 1] : report.trials.index.length;
    this.trials = [];
    for (let t = first; t < end; t++) this.trials.push(trialAt(report.trials, t, name));
    this.ms = mean(this.trials.map((it) => it.ms));
    this.cost = sum([...this.trials.map((it) => it.cost), uncounted.cost]);
    // Trials whose cost of the agent is not known, those whose cost of judges is not, and those whose cost of the simulated user is not.
    [this.unknownCosts, this.unknownJudgeCosts, this.unknownUserCosts] = columns.unknownCosts[i];
    this.judgeCost = sum([...this.trials.map((it) => it.judgeCost), uncounted.judgeCost]);
    this.userCost = sum([...this.trials.map((it) => it.userCost), uncounted.userCost]);
    this.tokens = sum(this.trials.map((it) => it.tokens && it.tokens[0] + it.tokens[1] + it.tokens[2]));
    this.bucket = typeof this.metadata.failure_bucket === 'string' ? this.metadata.failure_bucket : null;
  }

  /** The outcome that rows show: a case that passed with trials that did not is flaky. */
  get shown() {
    return this.flaky && this.outcome === 'p' ? '~' : this.outcome;
  }

  /** Text that words of the filter are looked up in. */
  get text() {
    this.lower ||= [this.id, this.test, this.suite, this.target, this.file, this.code, this.reason, ...this.tags].join('\n').toLowerCase();
    return this.lower;
  }

  /** What is different from an earlier run. Below five trials nothing is called a regression. */
  change(past) {
    const was = past.outcomes[this.i];
    if (was === '-') return { kind: 'added' };
    const delta = this.score !== null && past.scores[this.i] !== null ? this.score - past.scores[this.i] : null;
    const before = { outcome: was, score: past.scores[this.i], passed: past.passed[this.i], completed: past.completed[this.i] };
    if (past.definitions[this.i] !== '=') return { kind: 'definition', what: past.definitions[this.i], delta, before };
    if ((was === 'p') !== (this.outcome === 'p')) return { kind: this.outcome === 'p' ? 'better' : 'worse', delta, before };
    return { kind: delta !== null && Math.abs(delta) >= SCORE_STEP ? 'score' : 'same', delta, before };
  }
}

function trialAt(columns, t, name) {
  return {
    index: columns.index[t],
    outcome: columns.outcome[t],
    score: columns.score[t],
    ms: columns.ms[t],
    cost: columns.cost[t],
    judgeCost: columns.judgeCost[t],
    userCost: columns.userCost[t],
    tokens: columns.tokens[t],
    judgeTokens: columns.judgeTokens[t],
    model: name(columns.model[t]),
    values: columns.values[t],
    verdicts: columns.verdicts[t],
  };
}

// Chunks are elements of this page, or scripts beside it that call `evalsuiteChunk`.
const waiting = new Map();

globalThis.evalsuiteChunk = (number, base64) => {
  waiting.get(number)?.(base64);
  waiting.delete(number);
};

async function loadChunk(number) {
  const id = `c${number}`;
  let base64 = takeElement(id);
  if (base64 === null && document.readyState === 'loading') {
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));
    base64 = takeElement(id);
  }
  base64 ??= await new Promise((resolve, reject) => {
    waiting.set(number, resolve);
    const failed = () => reject(new Error(`data/${id}.js cannot be loaded`));
    document.head.append(el('script', { src: `data/${id}.js`, on: { error: failed } }));
  });
  return inflate(base64);
}
