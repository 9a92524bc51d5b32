// The filter: `s:failed @tag metadata.k:v grader:x<0.5 time:>60s "text"`. All terms have to match; `-` before a term negates it.

const STATES = { passed: (it) => it.outcome === 'p', failed: (it) => it.outcome === 'f', error: (it) => it.outcome === 'e', skipped: (it) => it.outcome === 's', flaky: (it) => it.flaky };

const TEXT_KEYS = {
  id: (it) => it.id, suite: (it) => it.suite, target: (it) => it.target, file: (it) => it.file, test: (it) => it.test,
  agent: (it) => it.agent, code: (it) => it.code, bucket: (it) => it.bucket || '',
};

// Of a case, or of any of its trials.
const NUMBER_KEYS = {
  score: (it) => [it.score],
  time: (it) => it.trials.map((trial) => trial.ms),
  cost: (it) => [it.cost],
  tokens: (it) => it.trials.map((trial) => trial.tokens && trial.tokens[0] + trial.tokens[1] + trial.tokens[2]),
  trials: (it) => [it.trials.length],
  passed: (it) => [it.passed],
  answers: (it) => [it.answers],
};

const UNITS = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/** A member of an object, not of what every object inherits: `constructor` is a word that people write. */
function own(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Splits at blanks outside quotes. */
function splitTerms(query) {
  return query.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g) || [];
}

function unquote(text) {
  return text.replace(/"((?:[^"\\]|\\.)*)"?/g, (_, inner) => inner.replace(/\\(.)/g, '$1'));
}

function numberIn(text, key) {
  const match = /^\$?(-?\d*\.?\d+)\s*(ms|s|min|m|h|k|%)?$/i.exec(text);
  if (!match) return null;
  const value = Number(match[1]), unit = (match[2] || '').toLowerCase();
  if (key === 'time') return value * (UNITS[unit] || 1000);
  if (unit === 'k') return value * 1000;
  return unit === '%' ? value / 100 : value;
}

function comparison(text, key) {
  const match = /^(<=|>=|<|>|=)(.+)$/.exec(text);
  const limit = match && numberIn(match[2], key);
  if (limit === null || limit === undefined) return null;
  const compare = { '<': (a) => a < limit, '<=': (a) => a <= limit, '>': (a) => a > limit, '>=': (a) => a >= limit, '=': (a) => a === limit }[match[1]];
  return (value) => value !== null && value !== undefined && compare(value);
}

/** A filter as `{ test, deep, problems }`: texts in quotes are also looked up in prompts, answers and transcripts. */
function parseFilter(query, report, past) {
  const tests = [], deep = [], problems = [];
  for (const term of splitTerms(query)) {
    const negated = /^[-!]./.test(term);
    const body = negated ? term.slice(1) : term;
    if (body.startsWith('"')) {
      const text = unquote(body).toLowerCase();
      if (text) deep.push({ text, negated });
      continue;
    }
    const test = parseTerm(body, report, past);
    if (typeof test === 'string') problems.push(test);
    else tests.push(negated ? (it) => !test(it) : test);
  }
  return { test: (it) => tests.every((test) => test(it)), deep, problems };
}

function parseTerm(term, report, past) {
  if (term.startsWith('@') && term.length > 1) {
    const tag = unquote(term.slice(1)).toLowerCase();
    return (it) => it.tags.some((known) => known.toLowerCase() === tag);
  }
  const match = /^([a-z]+)(?:\.("[^"]*"|[^:<>="]+))?(:|(?=[<>=]))(.*)$/is.exec(term);
  if (!match) {
    const word = unquote(term).toLowerCase();
    return (it) => it.text.includes(word);
  }
  const key = match[1].toLowerCase(), member = match[2] && unquote(match[2]), rest = match[4];
  if (key === 's' || key === 'state') return stateTest(rest);
  if (key === 'metadata' && member) return metadataTest(member, rest);
  if (key === 'grader') return graderTest(rest);
  if (key === 'change') return changeTest(rest, past);
  if (Object.hasOwn(NUMBER_KEYS, key)) {
    const compare = comparison(/^[<>=]/.test(rest) ? rest : `=${rest}`, key);
    return compare ? (it) => NUMBER_KEYS[key](it).some(compare) : `\`${term}\`: expected a number, as in \`${key}:>10\``;
  }
  if (Object.hasOwn(TEXT_KEYS, key)) {
    const words = unquote(rest).toLowerCase().split(',');
    return (it) => words.some((word) => TEXT_KEYS[key](it).toLowerCase().includes(word));
  }
  const known = ['s', 'metadata.KEY', 'grader', 'change', ...Object.keys(NUMBER_KEYS), ...Object.keys(TEXT_KEYS)];
  return `\`${key}\` is not a key of filters; keys are ${known.join(', ')}`;
}

function stateTest(rest) {
  const tests = [];
  for (const word of rest.toLowerCase().split(',')) {
    const name = Object.keys(STATES).find((state) => word && state.startsWith(word));
    if (!name) return `\`${rest}\` is not a state; states are ${Object.keys(STATES).join(', ')}`;
    tests.push(STATES[name]);
  }
  return (it) => tests.some((test) => test(it));
}

function metadataTest(member, rest) {
  const compare = comparison(rest);
  const wanted = unquote(rest).toLowerCase();
  return (it) => {
    const values = [own(it.metadata, member)].flat().filter((value) => value !== undefined && value !== null);
    if (compare) return values.some((value) => typeof value === 'number' && compare(value));
    return values.some((value) => typeof value !== 'object' && String(value).toLowerCase() === wanted);
  };
}

function graderTest(rest) {
  const match = /^("[^"]*"|[^:<>=]+)(?::(?=.)|(?=[<>=]|$))(.*)$/s.exec(rest);
  if (!match) return `\`grader:${rest}\`: expected a name, as in \`grader:tone<0.5\``;
  const name = unquote(match[1]).toLowerCase(), rule = match[2];
  const verdict = own({ pass: 'p', fail: 'f', undecided: 'u', error: 'e' }, rule);
  const compare = comparison(rule);
  if (rule && !verdict && !compare) return `\`${rule}\`: expected \`<0.5\`, or pass, fail, undecided or error`;
  return (it) => it.graders.some((grader, at) => {
    if (grader.toLowerCase() !== name) return false;
    if (!rule) return true;
    return it.trials.some((trial) => (compare ? compare(trial.values[at]) : trial.verdicts[at] === verdict));
  });
}

function changeTest(rest, past) {
  const kinds = { better: 'better', worse: 'worse', score: 'score', new: 'added', definition: 'definition', same: 'same' };
  const wanted = rest.toLowerCase().split(',').map((word) => own(kinds, word));
  if (wanted.includes(undefined)) return `\`${rest}\` is not a change; changes are ${Object.keys(kinds).join(', ')}`;
  return (it) => Boolean(past) && wanted.includes(it.change(past).kind);
}
