// The page of a case: why it came out so, its input, and for each trial answer, scores, transcript and changes.

class CaseView {
  constructor(report, order) {
    this.report = report;
    this.order = order;
    this.element = el('article', { class: 'page' });
  }

  async draw() {
    const { report } = this;
    const it = report.byKey.get(route.case);
    this.it = it;
    if (!it) {
      replace(this.element, el('div', { class: 'empty' }, el('h2', {}, 'This report has no such case'), el('p', {}, el('code', {}, route.case)), el('a', { class: 'primary', href: hrefTo({ view: 'cases', case: '' }) }, 'Show all cases')));
      return;
    }
    const turn = {};
    this.turn = turn;
    replace(this.element, this.head(it), el('p', { class: 'note loading' }, 'Loading…'));
    let details, problem;
    try {
      details = await report.details(it);
    } catch (error) {
      problem = error.message;
    }
    if (this.turn !== turn) return;
    this.details = details;
    replace(this.element, this.head(it), ...(details ? this.body(it, details) : [this.withoutDetails(it, problem)]));
  }

  head(it) {
    const order = this.order();
    const at = order.indexOf(it);
    const step = (by, label, name) => {
      const other = order[at + by];
      return el('a', { class: 'step-link', role: 'link', href: other ? hrefTo({ case: other.key, trial: '' }) : null, 'aria-label': label, 'aria-disabled': other ? null : 'true' }, icon(name));
    };
    return el('header', { class: 'case-head' },
      el('div', { class: 'crumbs' },
        el('a', { href: hrefTo({ view: 'cases', case: '', trial: '' }), class: 'back' }, icon('back'), 'Cases'),
        el('span', { class: 'muted' }, nameText(it.suite), this.report.targets.length > 1 && [' · ', nameText(it.target)]),
        el('span', { class: 'spacer' }),
        at >= 0 && el('span', { class: 'muted position' }, `${count(at + 1)} of ${count(order.length)}`),
        step(-1, 'Previous case', 'back'), step(1, 'Next case', 'next')),
      el('div', { class: 'title' }, el('h1', {}, nameText(it.id, 1000)), pill(it.shown), scoreFact(it), locationMark({ file: it.file, line: it.line })));
  }

  withoutDetails(it, problem) {
    if (problem) return el('div', { class: 'empty' }, el('h2', {}, 'The details cannot be read'), el('p', {}, problem));
    return el('div', { class: 'empty' }, el('h2', {}, 'Only in the run directory'),
      el('p', {}, 'This report has the details of cases that did not pass. The records of this one are in the run ', el('code', {}, this.report.run.id), '.'));
  }

  /** The trials as tabs, and the one that is shown. */
  body(it, details) {
    const trials = details.trials;
    const all = route.trial === 'all';
    const at = all ? -1 : Math.max(0, trials.findIndex((trial) => String(trial.record.trial + 1) === route.trial));
    // Without a choice, the first trial that did not pass explains the most.
    const unchosen = route.trial === '' ? Math.max(0, trials.findIndex((trial) => trial.record.outcome !== 'passed')) : at;
    this.shown = all ? -1 : unchosen;
    const tabs = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Trials' },
      trials.map((trial, index) => {
        const code = CODE_OF[trial.record.outcome];
        return el('a', { role: 'tab', href: hrefTo({ trial: String(trial.record.trial + 1) }), 'aria-selected': String(index === this.shown), tabindex: index === this.shown ? 0 : -1 },
          sign(code, { size: 14 }), `Trial ${trial.record.trial + 1}`, trial.record.score !== undefined && el('span', { class: 'muted' }, score(trial.record.score)));
      }),
      (trials.length > 1 || details.base) && el('a', { role: 'tab', href: hrefTo({ trial: 'all' }), 'aria-selected': String(all), tabindex: all ? 0 : -1 }, 'Side by side', key('a')));
    if (!trials.length) return [tabs, el('div', { class: 'columns' }, el('div', { class: 'main' }, this.why(it), this.section('prompt', 'Prompt', inputBlock(details.input, details.turns))), this.facts(it, null, details))];
    if (all) return [tabs, el('div', { class: 'wide', role: 'tabpanel' }, this.section('prompt', 'Prompt', inputBlock(details.input, details.turns)), this.sideBySide(details))];
    const trial = trials[this.shown];
    return [tabs, el('div', { class: 'columns', role: 'tabpanel' },
      el('div', { class: 'main' }, this.trialBody(it, trial, details)), this.facts(it, trial, details))];
  }

  trialBody(it, trial, details) {
    const { record } = trial;
    const texts = trial.texts || [];
    const changed = (record.workspace?.created?.length || 0) + (record.workspace?.modified?.length || 0) + (record.workspace?.deleted?.length || 0);
    return [
      this.why(it, record),
      this.section('prompt', 'Prompt', inputBlock(details.input, details.turns)),
      this.section('answer', 'Answer', record.answer ? answerBlock(record.answer, { lines: 40, label: 'Answer' }) : el('p', { class: 'none' }, 'There is no answer.'),
        record.answer_truncated && el('p', { class: 'note' }, 'The record has its first 64 KiB.')),
      this.section('scores', 'Scores', gradersView(record.graders, texts)),
      (record.turns || []).length > 0 && this.section('turns', 'Turns', record.turns.map((one) => el('div', { class: 'turn' }, el('h3', {}, sign(CODE_OF[one.outcome]), ` Turn ${one.index + 1}`, el('span', { class: 'muted' }, ` ${score(one.score)}`)),
        messageBlock('user', one.input, one.simulated && 'Simulated user'), one.answer && el('div', { class: 'message from-assistant' }, el('div', { class: 'who' }, 'Agent'), answerBlock(one.answer, { lines: 24, label: 'Answer' })), gradersView(one.graders, texts)))),
      (record.user?.graders || []).length > 0 && this.section('user', 'Simulated user', gradersView(record.user.graders, texts)),
      this.section('transcript', 'Transcript', transcript(trial.trajectory)),
      (trial.patch || changed > 0) && this.section('changes', 'Workspace', trial.patch ? patchView(trial.patch) : workspaceLists(record.workspace)),
      this.rest(record, trial, texts),
    ];
  }

  section(id, title, ...content) {
    return el('section', { class: 'part', id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), content);
  }

  why(it, record) {
    const reason = record ? record.reason : it.code && { code: it.code, message: it.reason, location: it.reasonAt };
    const past = basePast(this.report);
    const change = past && it.change(past);
    const notes = [];
    if (reason) {
      const code = record ? CODE_OF[record.outcome] : it.outcome;
      notes.push(el('div', { class: `callout is-${OUTCOMES[code].name}` }, sign(code, { label: false, size: 18 }),
        el('div', {}, el('p', { class: 'message' }, withCode(reason.message)), el('p', { class: 'note' }, reason.stage && `${reason.stage} / `, reason.code, ' ', locationMark(reason.location)))));
    }
    if (change && ['better', 'worse', 'score', 'definition'].includes(change.kind)) {
      const was = change.before;
      notes.push(el('p', { class: 'versus-note' }, changeMark(it, past), ` On ${past.label}: ${OUTCOMES[was.outcome].label.toLowerCase()}, ${was.passed} of ${plural(was.completed, 'trial')} passed, score ${score(was.score)}. `,
        change.kind === 'definition' ? el('span', { class: 'muted' }, { i: 'The input is another one.', g: 'The graders are others.', c: 'The case is another one.' }[change.what]) : it.completed < 5 && el('span', { class: 'muted' }, 'With fewer than five trials this may be chance.')));
    }
    for (const note of record?.notes || []) notes.push(el('p', { class: 'callout note-callout' }, el('code', {}, note.code), ' ', note.message));
    return notes;
  }

  facts(it, trial, details) {
    const record = trial?.record;
    const fact = (label, ...value) => el('div', {}, el('dt', {}, label), el('dd', {}, value));
    const usage = (one) => one && `${count(one.input + one.cached)} in${one.cached ? ` (${count(one.cached)} cached)` : ''}, ${count(one.output)} out`;
    const { timings } = record || {};
    const judgesOf = (graders) => (graders || []).flatMap((grader) => [grader.judge, ...judgesOf(grader.members)].filter(Boolean));
    const judges = [record, record?.user, ...(record?.turns || [])].flatMap((part) => judgesOf(part?.graders));
    return el('aside', { class: 'facts', 'aria-label': 'Facts' },
      el('dl', {},
        record && fact('Time of agent', duration(record.duration_ms)),
        timings && timings.total_ms > 0 && fact('Phases', timingsBar(timings)),
        record?.cost_usd !== undefined && fact('Cost of agent', costBound(record.cost_usd, record.cost_partial)),
        record?.judge_cost_usd !== undefined && fact('Cost of judges', costBound(record.judge_cost_usd, judges.some((judge) => judge.unknown_costs || (judge.cost_usd ?? null) === null))),
        record?.user_cost_usd !== undefined && fact('Cost of user', costBound(record.user_cost_usd, record.user?.unknown_costs)),
        record?.usage && fact('Tokens', lowerBound(usage(record.usage), record.usage_partial)),
        record?.judge_usage && fact('Tokens of judges', lowerBound(usage(record.judge_usage), judges.some((judge) => judge.unknown_tokens || !judge.usage))),
        record?.user_usage && fact('Tokens of user', lowerBound(usage(record.user_usage), record.user?.unknown_tokens)),
        record?.user && fact('Simulated user', nameText(record.user.name || NONE), userText(record.user)),
        record?.sealed && fact('Seal', sealText(record.sealed)),
        record?.model && fact('Model', nameText(record.model)),
        fact('Agent', el('code', {}, nameText(it.agent || NONE))), fact('Target', nameText(it.target)),
        record?.mode && record.mode !== 'live' && fact('Mode', record.mode, record.regraded_run && ` of ${record.regraded_run}`),
        fact('Rule', ruleText(it)),
        it.confirming[1] > 0 && fact('Repeated', `${it.confirming[0]} of ${plural(it.confirming[1], 'further trial')} passed, because it fails and passed in its baseline`),
        it.failedGraders.length > 0 && fact('Passed without', `${it.failedGraders.join(', ')}: the threshold allows it`),
        it.surplus > 0 && fact('Surplus', `${plural(it.surplus, 'trial')} ran at the same time and ${it.surplus === 1 ? 'does' : 'do'} not count`),
        it.interval && it.completed > 1 && fact('95 % interval', `${score(it.interval[0])} to ${score(it.interval[1])}`),
        it.tags.length > 0 && fact('Tags', it.tags.map((tag) => tagLink(tag))),
        Object.entries(it.metadata).map(([name, value]) => fact(name, typeof value === 'object' ? el('code', {}, clip(JSON.stringify(value), 2000))
          : el('a', { href: hrefTo({ view: 'cases', case: '', trial: '', q: `metadata.${quoted(name)}:${quoted(String(value))}` }) }, clip(String(value))))),
        record?.started_at && fact('Started', moment(record.started_at, true)),
        fact('Test', el('code', {}, nameText(it.test || NONE))),
        trial && fact('Records', el('code', { class: 'path' }, nameText(trial.directory, 2000)))),
      details.earlier.length > 0 && [el('h3', {}, 'Earlier attempts of the test runner'), el('ul', { class: 'attempts' }, details.earlier.map((one) => el('li', {}, sign(CODE_OF[one.outcome]), ` Attempt ${one.attempt}`, one.reason && el('span', { class: 'muted' }, ` ${one.reason.message}`))))]);
  }

  /** Hooks, logs, state and files. */
  rest(record, trial, texts) {
    const judged = new Set((record.graders || []).flatMap((grader) => [...(grader.judge?.replies || []), grader.command?.stdout, grader.command?.stderr]).filter(Boolean).map((path) => path.replace(/[^/]*$/, '')));
    const others = texts.filter((file) => !judged.has(file.path.replace(/[^/]*$/, '')));
    const parts = [
      (record.hooks || []).length > 0 && el('ul', { class: 'hooks' }, record.hooks.map((hook) => el('li', {}, sign(hook.exit_code === 0 ? 'p' : 'f'), ' ', el('code', {}, hook.name), el('span', { class: 'muted' }, ` ${hook.scope} · ${hook.timed_out ? 'timed out' : `exit code ${hook.exit_code}`} · ${duration(hook.duration_ms)}${hook.sealed ? ` · seal: ${sealText(hook.sealed)}` : ''}`)))),
      trial.log?.text && fold('Log of the agent', () => textBlock(trial.log.text, { label: 'Log', omitted: trial.log.omitted })),
      Object.keys(record.state || {}).length > 0 && fold('State reported by the agent', () => textBlock(json(record.state), { label: 'State' })),
      Object.keys(record.agent_metadata || {}).length > 0 && fold('Data reported by the agent', () => textBlock(json(record.agent_metadata), { label: 'Data' })),
      others.map((file) => fold(el('code', {}, file.path), () => textBlock(file.text, { label: 'File', omitted: file.omitted }))),
      record.workspace?.kept && el('p', { class: 'note' }, 'The workspace was kept: ', el('code', { class: 'path' }, record.workspace.path)),
    ].flat().filter(Boolean);
    return parts.length ? this.section('files', 'Files and logs', parts) : null;
  }

  /** Answers of all trials, equal ones together, and those of the run that is compared with. */
  sideBySide(details) {
    const groups = [];
    for (const trial of details.trials) {
      const answer = trial.record.answer ?? null;
      let group = groups.find((one) => one.answer === answer);
      if (!group) groups.push(group = { answer, trials: [] });
      group.trials.push(trial);
    }
    groups.sort((a, b) => b.trials.length - a.trials.length);
    const first = groups[0];
    const columns = groups.map((group, at) => el('section', { class: 'answer-column' },
      el('h3', {}, groups.length > 1 ? `Answer ${String.fromCharCode(65 + (at % 26))}` : 'The answer', el('span', { class: 'muted' }, plural(group.trials.length, 'trial'))),
      el('div', { class: 'trial-links' }, group.trials.map((trial) => el('a', { href: hrefTo({ trial: String(trial.record.trial + 1) }) }, sign(CODE_OF[trial.record.outcome], { size: 14 }), `Trial ${trial.record.trial + 1}`, el('span', { class: 'muted' }, score(trial.record.score))))),
      group.answer === null ? el('p', { class: 'none' }, 'There is no answer.') : el('div', { class: 'answer-text' }, at === 0 || first.answer === null ? group.answer.split('\n').map((line) => el('div', { class: 'line' }, line ? foldedLine(line) : ' ')) : markedLines(group.answer, first.answer))));
    const base = details.base;
    if (base) {
      const past = this.report.past.find((one) => one.run.id === base.run);
      const seen = new Map();
      for (const trial of base.trials) {
        const answer = trial.answer ?? null;
        if (!seen.has(answer)) seen.set(answer, []);
        seen.get(answer).push(trial);
      }
      for (const [answer, trials] of seen) {
        columns.push(el('section', { class: 'answer-column base' },
          el('h3', {}, past ? past.label : base.run, el('span', { class: 'muted' }, plural(trials.length, 'trial'))),
          el('div', { class: 'trial-links' }, trials.map((trial) => el('span', {}, sign(CODE_OF[trial.outcome], { size: 14 }), `Trial ${trial.index + 1}`, el('span', { class: 'muted' }, score(trial.score))))),
          answer === null ? el('p', { class: 'none' }, 'There is no answer.') : el('div', { class: 'answer-text' }, first.answer === null ? textNodes(answer) : markedLines(answer, first.answer))));
      }
    }
    const graders = this.it.graders;
    const trials = details.trials;
    const matrix = graders.length > 0 && el('div', { class: 'scroll' }, el('table', { class: 'matrix' },
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Grader'), trials.map((trial) => el('th', { scope: 'col' }, `Trial ${trial.record.trial + 1}`)))),
      el('tbody', {}, graders.map((name, at) => el('tr', {}, el('th', { scope: 'row' }, nameText(name)), this.it.trials.map((trial) => el('td', {},
        trial.verdicts[at] === '-' ? NONE : [sign(trial.verdicts[at], { size: 14 }), ' ', score(trial.values[at])])))))));
    return [this.section('answers', 'Answers', groups.length === 1 && details.trials.length > 1 && el('p', { class: 'note' }, 'All trials gave the same answer.'), el('div', { class: 'answers' }, columns)),
      matrix && this.section('matrix', 'Scores by trial', matrix)];
  }

  moveTrial(step) {
    if (!this.details?.trials.length) return;
    const trials = this.details.trials;
    const places = [...trials.map((trial) => String(trial.record.trial + 1)), ...(trials.length > 1 || this.details.base ? ['all'] : [])];
    const at = this.shown < 0 ? places.length - 1 : this.shown;
    const next = places[at + step];
    if (next) go({ trial: next }, { replace: true });
  }

  moveCase(step) {
    const order = this.order();
    const next = order[order.indexOf(this.it) + step];
    if (next) go({ case: next.key, trial: '' }, { replace: true });
  }
}

function quoted(text) {
  return /[\s:<>="]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}

function scoreFact(it) {
  if (it.score === null) return null;
  return el('span', { class: 'score-fact' }, el('strong', {}, score(it.score)), el('span', { class: 'muted' }, ` needs ${score(it.threshold)}`));
}

/** How the conversation with a simulated user ended, and whether the user stayed in its role. */
function userText(user) {
  const ended = { done: 'it was done', max_turns: 'max_turns was reached', turn_failed: 'a turn failed' }[user.ended];
  const role = user.in_role === true ? 'in its role' : user.in_role === false && 'left its role';
  return [`: ${plural(user.turns, 'turn')}`, ended, role].filter(Boolean).join('; ');
}

/** What became of the seal of a command. */
function sealText(seal) {
  if (seal.state === 'off') return 'off';
  if (seal.state !== 'sealed') return `none: ${plain(clip(seal.reason || '', 500))}`;
  const uncovered = (seal.uncovered || []).map((word) => word.replaceAll('_', ' ')).join(', ');
  return `Landlock ABI ${seal.landlock_abi}, network ${plain(clip(seal.network))}${uncovered && `; not covered: ${uncovered}`}`;
}

function ruleText(it) {
  const rule = { any: 'One trial has to pass', every: 'All trials have to pass', mean: 'The mean has to reach the threshold', confidence_interval: 'The lower end of the interval has to reach the threshold' }[it.rule] || it.rule;
  return `${rule}; ${it.passed} of ${it.completed} did`;
}

function workspaceLists(workspace) {
  return ['created', 'modified', 'deleted'].filter((kind) => workspace[kind]?.length).map((kind) => [el('h3', {}, kind), el('ul', {}, workspace[kind].map((path) => el('li', {}, el('code', {}, path))))]);
}

function timingsBar(timings) {
  const phases = [['setup', timings.setup_ms], ['agent', timings.agent_ms], ['capture', timings.capture_ms], ['grading', timings.grading_ms], ['teardown', timings.teardown_ms]].filter(([, ms]) => ms > 0);
  const total = phases.reduce((all, [, ms]) => all + ms, 0) || 1;
  return [el('span', { class: 'phases', 'aria-hidden': 'true' }, phases.map(([name, ms]) => el('span', { class: `phase ${name}`, style: { 'flex-grow': Math.max(ms / total, 0.01) } }))),
    el('span', { class: 'phase-list' }, phases.map(([name, ms]) => el('span', {}, el('span', { class: `dot ${name}`, 'aria-hidden': 'true' }), `${name} ${duration(ms)}`)))];
}
