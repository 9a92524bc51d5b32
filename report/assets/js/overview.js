// The first view: what came out, and the table of all cases with its filter.

const RANK = { e: 0, f: 1, '~': 2, s: 4, p: 5 };

const SORTS = {
  outcome: (it) => [RANK[it.shown], it.score ?? 2],
  id: (it) => [it.id],
  trials: (it) => [it.trials.length ? it.passed / it.trials.length : 2, -it.trials.length],
  score: (it) => [it.score ?? 2],
  change: (it, past) => [{ worse: 0, better: 1, score: 2, added: 3, definition: 4, same: 5 }[it.change(past).kind], it.change(past).delta ?? 0],
  // The slowest and the most expensive first.
  time: (it) => [-(it.ms ?? -1)],
  cost: (it) => [-(it.cost ?? -1)],
};

function groupings(report) {
  const options = [['', 'None'], ['state', 'Outcome'], ['suite', 'Suite'], ['target', 'Target'], ['folder', 'Folder'], ['tag', 'Tag']];
  for (const key of report.keys) options.push([`metadata.${key}`, key]);
  return options;
}

function groupNames(it, group) {
  if (group === 'state') return [OUTCOMES[it.shown].label];
  if (group === 'suite') return [it.suite];
  if (group === 'target') return [it.target];
  if (group === 'folder') return [it.file.split('/').slice(0, -2).join('/')];
  if (group === 'tag') return it.tags;
  const value = own(it.metadata, group.slice('metadata.'.length));
  return [value].flat().filter((one) => one !== undefined && one !== null).map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)));
}

function compareKeys(left, right) {
  for (let at = 0; at < left.length; at++) {
    const order = typeof left[at] === 'string' ? left[at].localeCompare(right[at], 'en', { numeric: true }) : left[at] - right[at];
    if (order) return order;
  }
  return 0;
}

class CasesView {
  constructor(report) {
    this.report = report;
    this.search = 0;
    this.element = el('div', { class: 'cases' });
  }

  /** Cases that the route's filter lets through, in the route's order; also what the page of a case moves through. */
  select(found) {
    const { report, past } = this;
    const filter = parseFilter(route.q, report, past);
    let cases = report.cases.filter(filter.test);
    if (route.different && past) cases = cases.filter((it) => it.change(past).kind !== 'same');
    if (found) cases = cases.filter((it) => found.has(it));
    const sort = route.sort === 'change' && !past ? 'outcome' : route.sort;
    const grader = sort.startsWith('grader:') && report.graders.includes(sort.slice(7)) && sort.slice(7);
    const rank = grader ? (it) => [graderMean(it, grader) ?? 2] : Object.hasOwn(SORTS, sort) ? SORTS[sort] : SORTS.outcome;
    const ranked = cases.map((it) => [it, rank(it, past)]);
    ranked.sort((a, b) => (route.dir === 'down' ? -1 : 1) * compareKeys(a[1], b[1]) || a[0].i - b[0].i);
    return { filter, cases: ranked.map(([it]) => it) };
  }

  get past() {
    return basePast(this.report);
  }

  draw() {
    const { report, past } = this;
    const controls = () => [...this.element.querySelectorAll('.toolbar select, .toolbar input, .row.head button')];
    const focused = controls().indexOf(document.activeElement);
    this.table?.remove();
    this.table = new CaseTable(report, past);
    this.input = el('input', {
      type: 'search', id: 'filter', value: route.q, placeholder: 'Filter: s:failed  @tag  grader:tone<0.5  "text"', spellcheck: 'false', autocomplete: 'off',
      'aria-label': 'Filter cases', 'aria-describedby': 'filter-problems', 'aria-keyshortcuts': '/',
      on: { input: () => this.typed(), keydown: (event) => this.keyInFilter(event) },
    });
    this.problems = el('div', { id: 'filter-problems', class: 'filter-problems', role: 'status' });
    this.hits = el('span', { class: 'hits muted' });
    this.toolbar = el('div', { class: 'toolbar' },
      el('div', { class: 'search', role: 'search' }, icon('search'), this.input, key('/')),
      pick('Group', groupings(report), route.group, (group) => go({ group }, { replace: true })),
      report.past.length > 0 && pick('Compare with', pastOptions(report), past ? past.run.id : 'none', (base) => go({ base }, { replace: true })),
      past && el('label', { class: 'check' }, el('input', { type: 'checkbox', checked: route.different === '1', on: { change: (event) => go({ different: event.target.checked ? '1' : '' }, { replace: true }) } }), 'Different only'),
      report.graders.length > 0 && graderPick(report),
      this.hits);
    this.empty = el('div', { class: 'empty', hidden: true });
    replace(this.element, summary(report, past), this.toolbar, this.problems, this.table.element, this.table.unprinted, this.empty);
    // The controls are new, the one that was used keeps the focus.
    controls()[focused]?.focus({ preventScroll: true });
    this.update();
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.apply(), 60);
    // By the time a text is typed, what it is looked up in is there.
    if (this.input.value.includes('"')) this.report.inflateAll();
  }

  /** Filters by what is typed. */
  apply() {
    clearTimeout(this.timer);
    go({ q: this.input.value }, { replace: true });
  }

  keyInFilter(event) {
    if (event.key === 'Enter' || event.key === 'ArrowDown') {
      event.preventDefault();
      this.apply();
      this.table.focus(0);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      if (this.input.value) {
        this.input.value = '';
        this.apply();
      } else this.input.blur();
    }
  }

  /** Shows what the filter lets through; texts in quotes take a moment. */
  async update() {
    const { report, past } = this;
    if (document.activeElement !== this.input) this.input.value = route.q;
    for (const link of this.element.querySelectorAll('.legend a')) {
      const chosen = link.dataset.filter === route.q;
      link.href = hrefTo({ q: chosen ? '' : link.dataset.filter });
      link.setAttribute('aria-current', chosen);
    }
    const turn = ++this.search;
    const first = this.select();
    replace(this.problems, ...first.filter.problems.map((problem) => el('p', {}, problem)));
    let { cases } = first;
    if (first.filter.deep.length) {
      const isStale = () => turn !== this.search;
      const progress = (share) => replace(this.hits, `searching ${percent(share, 0)}`);
      progress(0);
      const found = await searchDetails(report, cases, first.filter.deep, progress, isStale);
      if (!found) return;
      cases = this.select(found).cases;
    }
    this.order = cases;
    this.table.show(this.groups(cases));
    const all = cases.length === report.cases.length;
    replace(this.hits, all ? plural(cases.length, 'case') : `${count(cases.length)} of ${plural(report.cases.length, 'case')}`);
    announce(`${cases.length} cases`);
    this.empty.hidden = cases.length > 0;
    this.table.element.hidden = cases.length === 0;
    if (!cases.length) replace(this.empty, ...noCases(report, past));
    this.queried = route.q;
  }

  groups(cases) {
    if (!route.group) return [{ cases }];
    const groups = new Map();
    for (const it of cases) {
      const names = groupNames(it, route.group);
      for (const name of names.length ? names : ['']) {
        if (!groups.has(name)) groups.set(name, { name, cases: [] });
        groups.get(name).cases.push(it);
      }
    }
    return [...groups.values()].sort((a, b) => (tally(a.cases).rate ?? 2) - (tally(b.cases).rate ?? 2) || a.name.localeCompare(b.name, 'en'));
  }
}

function noCases(report, past) {
  if (!report.cases.length) {
    return [el('h2', {}, 'No case has run'), el('p', {}, 'The run directory has no records of cases. ', report.inUse ? 'Its tests are still running.' : 'Check that the tests were not filtered out.')];
  }
  const nothingChanged = route.different && past && !route.q;
  return [
    el('h2', {}, nothingChanged ? 'Nothing changed' : 'No case matches'),
    el('p', {}, nothingChanged ? `Every case has the outcome and score it had on ${past.label}.` : ['The filter is ', el('code', {}, route.q || 'different only'), '.']),
    button('Show all cases', () => go({ q: '', different: '' }), { class: 'primary' }),
  ];
}

function pick(label, options, value, onPick) {
  return el('label', { class: 'pick' }, el('span', {}, label),
    el('select', { on: { change: (event) => onPick(event.target.value) } }, options.map(([id, text]) => el('option', { value: id, selected: id === value }, plain(text)))));
}

/** Which graders are columns of the table. */
function graderPick(report) {
  const chosen = chosenGraders(report);
  const flip = (name, on) => {
    const names = report.graders.filter((one) => (one === name ? on : chosen.includes(one)));
    page.pickingGraders = true;
    go({ graders: names.map(encodeURIComponent).join(',') }, { replace: true });
  };
  const open = page.pickingGraders;
  page.pickingGraders = false;
  return el('details', { class: 'grader-pick', open }, el('summary', {}, chosen.length ? `Graders (${chosen.length})` : 'Graders'),
    el('div', { class: 'grader-list' }, report.graders.map((name) => el('label', { class: 'check' },
      el('input', { type: 'checkbox', checked: chosen.includes(name), on: { change: (event) => flip(name, event.target.checked) } }), clip(name, 60)))));
}

function pastOptions(report) {
  const runs = report.past.map((past) => [past.run.id, past.label]).reverse();
  return [['none', 'Nothing'], ...runs];
}

/** The run that is compared with: that of the route, else that of the report. */
function basePast(report) {
  if (route.base === 'none') return null;
  return report.past.find((past) => past.run.id === route.base) || (report.base === null ? null : report.past[report.base]) || null;
}

/** Pass rate of the cases of an earlier run. */
function pastRate(past) {
  const cases = past.totals.reduce((all, it) => ({ p: all.p + it.cases.passed, n: all.n + it.cases.passed + it.cases.failed + it.cases.error }), { p: 0, n: 0 });
  return { ...cases, rate: cases.n ? cases.p / cases.n : null };
}

const VERDICTS = { regressed: 'Regressed', undecided: 'Undecided', improved: 'Improved', unchanged: 'No evidence of a change', same: 'The same' };
/** Most suites whose comparison is in the headline. */
const COMPARED = 3;

/** What `cargo evalsuite diff` says about this run and the one that is compared with, the worst suite first. */
function versus(past) {
  const words = Object.keys(VERDICTS);
  const suites = [...past.compared].sort((a, b) => words.indexOf(a.verdict) - words.indexOf(b.verdict) || b.pairs - a.pairs);
  if (!suites.length) return null;
  const line = (it) => el('div', { class: 'versus-suite' },
    suites.length > 1 && el('strong', {}, `${it.suite} · ${it.target} `),
    suites.length > 1 && `${VERDICTS[it.verdict].toLowerCase()}: `,
    it.pairs > 0 && `score ${signed(it.difference, (value) => value.toFixed(3))}`,
    it.interval && el('span', { class: 'muted', title: '95 % interval of the mean difference' }, ` [${it.interval.map((end) => signed(end, (value) => value.toFixed(3))).join(', ')}], p ${shownP(it.pValue)}, ${plural(it.pairs, 'case')}`),
    it.errors > 0 && `, ${it.errors === 1 ? '1 ends' : `${count(it.errors)} end`} in an error now`,
    it.missing > 0 && el('span', { class: 'muted' }, `, ${count(it.missing)} without a result`),
    it.unknown && el('div', { class: 'muted' }, `errors: ${it.unknown}`),
    it.unit && el('div', { class: 'muted' }, it.unit));
  return el('div', { class: 'versus' },
    el('div', {}, el('span', { class: `verdict ${suites[0].verdict}` }, VERDICTS[suites[0].verdict]), el('span', { class: 'muted' }, ` against ${past.label}`)),
    past.notes.map((note) => el('div', { class: 'muted' }, note)),
    suites.slice(0, COMPARED).map(line),
    suites.length > COMPARED && el('div', { class: 'muted' }, `and ${plural(suites.length - COMPARED, 'suite')} more: cargo evalsuite diff`));
}

function summary(report, past) {
  const { cases } = report;
  const counts = tally(cases);
  const interval = wilson(counts.p, counts.run);
  const trials = cases.flatMap((it) => it.trials);
  const errors = trials.filter((trial) => trial.outcome === 'e').length;
  const tolerated = cases.filter((it) => it.failedGraders.length > 0).length;
  const tests = report.suites.reduce((all, suite) => all + (suite.tests || 0), 0);
  const legend = [['p', counts.p - counts.flaky, 's:passed -s:flaky'], ['~', counts.flaky, 's:passed s:flaky'], ['f', counts.f, 's:failed'], ['e', counts.e, 's:error'], ['s', counts.s, 's:skipped']];
  return el('section', { class: 'summary', 'aria-label': 'Summary' },
    el('h1', { class: 'hidden' }, 'Cases'),
    el('div', { class: 'headline' },
      el('div', { class: 'figure' },
        el('span', { class: 'big' }, percent(counts.rate)),
        el('div', { class: 'captions' }, el('span', { class: 'caption' }, `${count(counts.p)} of ${plural(counts.run, 'case')} passed`,
          interval && el('span', { class: 'muted' }, ` · 95 % interval ${percent(interval[0], 0)}–${percent(interval[1], 0)}`)),
        errors > 0 && el('span', { class: 'caption' }, `${count(errors)} of ${plural(trials.length, 'trial')} ended in an error`),
        tolerated > 0 && el('span', { class: 'caption' }, `${plural(tolerated, 'case')} passed although a grader failed`),
          report.probe && el('span', { class: 'caption' }, probeText(report.probe)),
          report.decision && el('span', { class: 'caption', title: report.decision.rerun }, report.decision.headline))),
      past && versus(past),
      report.past.length > 1 && sparkline([...report.past.map((it) => pastRate(it).rate), counts.rate])),
    el('div', { class: 'distribution' }, outcomeBar(counts, report.probe),
      el('div', { class: 'legend' }, legend.filter(([code, number]) => number > 0 || code === 'p' || code === 'f').map(([code, number, q]) =>
        el('a', { 'data-filter': q }, sign(code, { label: false, size: 14 }), el('strong', {}, count(number)), ` ${OUTCOMES[code].label.toLowerCase()}`)),
        tests > cases.length && el('span', { class: 'muted' }, `${plural(tests - cases.length, 'test')} not run`))),
    el('dl', { class: 'measures' }, measures(report, cases)));
}

/** Between which pass rates the suites say something. */
function probeText({ floor, ceiling }) {
  const parts = [floor !== null && `doing nothing passes ${percent(floor, 0)}`, ceiling !== null && `the references pass ${percent(ceiling, 0)}`];
  return parts.filter(Boolean).join(' · ');
}

function measures(report, cases) {
  const trials = cases.flatMap((it) => it.trials);
  const values = (name) => trials.map((trial) => trial[name]);
  const tokens = (name, at) => sum(trials.map((trial) => trial[name] && trial[name][at]));
  const total = sum(values('ms')), agent = sum(cases.map((it) => it.cost)), judge = sum(cases.map((it) => it.judgeCost));
  const user = sum(cases.map((it) => it.userCost));
  const [unknown, unknownJudge, unknownUser] = ['unknownCosts', 'unknownJudgeCosts', 'unknownUserCosts'].map((name) => sum(cases.map((it) => it[name])));
  const [input, output, cached] = [0, 1, 2].map((at) => tokens('tokens', at));
  const measure = (label, value, note) => el('div', {}, el('dt', {}, label), el('dd', {}, value, note && el('span', { class: 'muted' }, note)));
  return [
    measure('Score', score(pooled(report.totals, 'score', 'scoredCases')), `mean of ${plural(sum(report.totals.map((it) => it.scoredCases)) || 0, 'case')}`),
    measure('Trials', count(trials.length), `${count(trials.filter((trial) => trial.outcome === 'p').length)} passed`),
    agent !== null && measure('Cost of agent', costBound(agent, unknown), unknown ? `not known of ${plural(unknown, 'trial')}` : cases.length ? `${dollars(agent / cases.length)} a case` : ''),
    judge !== null && measure('Cost of judges', costBound(judge, unknownJudge), agent && !unknown && !unknownJudge && user === null ? `${percent(judge / (agent + judge), 0)} of all` : ''),
    user !== null && measure('Cost of simulated users', costBound(user, unknownUser), unknownUser ? `not known of ${plural(unknownUser, 'trial')}` : ''),
    input !== null && measure('Tokens', lowerBound(count(input + output + (cached || 0)), trials.some((trial) => !trial.tokens)), `${count(output)} out · ${percent((cached || 0) / Math.max(1, input + (cached || 0)), 0)} cached`),
    total !== null && measure('Time of agent', duration(total), `median ${duration(quantile(values('ms'), 0.5))} · p95 ${duration(quantile(values('ms'), 0.95))}`),
  ];
}
