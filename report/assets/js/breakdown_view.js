// Where it went wrong: graders, buckets, tags, targets and metadata; the slowest, most expensive and least stable cases; judges; skips.

class BreakdownView {
  /** What is shown above the panels: functions of the report. */
  static sections = [];

  constructor(report, order) {
    this.report = report;
    this.order = order;
    this.element = el('section', { class: 'breakdown' });
  }

  async draw() {
    const { report } = this;
    const turn = {};
    this.turn = turn;
    const filter = parseFilter(route.q, report, basePast(report));
    let cases = this.order();
    // The table looks up texts in quotes; a page that was opened here did not show it.
    if (filter.deep.length && page.views.cases.queried !== route.q) {
      replace(this.element, el('div', { class: 'view-head' }, el('h1', {}, 'Breakdown'), el('p', { class: 'muted', role: 'status' }, 'Searching…')));
      const found = await searchDetails(report, cases, filter.deep, () => {}, () => this.turn !== turn);
      if (!found) return;
      cases = cases.filter((it) => found.has(it));
    }
    this.show(cases, filter.problems);
  }

  show(cases, problems) {
    const { report } = this;
    const groups = [['suite', 'Suite', (it) => [it.suite], (name) => `suite:${quoted(name)}`]];
    if (report.targets.length > 1) groups.push(['target', 'Target', (it) => [it.target], (name) => `target:${quoted(name)}`]);
    if (report.tags.length) groups.push(['tag', 'Tag', (it) => it.tags, (name) => `@${quoted(name)}`]);
    for (const name of report.keys) groups.push([name, name, (it) => groupNames(it, `metadata.${name}`), (value) => `metadata.${quoted(name)}:${quoted(value)}`]);
    replace(this.element,
      el('div', { class: 'view-head' }, el('h1', {}, 'Breakdown'), this.scope(cases)),
      el('div', { class: 'filter-problems' }, problems.map((problem) => el('p', {}, problem))),
      report.cases.length > 0 && !cases.length && el('div', { class: 'empty' }, el('h2', {}, 'No case matches')),
      BreakdownView.sections.map((section) => section(report)),
      el('div', { class: 'panels' },
        this.graders(cases),
        groups.map(([, label, of, query]) => this.rates(cases, label, of, query)),
        this.board('Slowest', cases.filter((it) => it.ms !== null).sort((a, b) => b.ms - a.ms), (it) => duration(it.ms)),
        this.board('Dearest', cases.filter((it) => it.cost !== null).sort((a, b) => b.cost - a.cost), (it) => costBound(it.cost, it.unknownCosts)),
        this.board('Least stable', cases.filter((it) => it.flaky || it.answers > 1).sort((a, b) => Number(b.flaky) - Number(a.flaky) || Math.abs(a.passed / a.completed - 0.5) - Math.abs(b.passed / b.completed - 0.5) || b.answers - a.answers), (it) => [trialSigns(it), el('span', { class: 'muted' }, plural(it.answers, 'answer'))]),
        this.reasons(cases), this.judges(), this.judgedRates()));
  }

  /** Which cases the numbers cover, in words. */
  scope(cases) {
    if (!isNarrowed(this.report)) return null;
    const differ = route.different && basePast(this.report);
    const all = this.report.cases.length;
    return el('p', { class: 'muted scope', role: 'status' }, `Covers the ${count(cases.length)} of ${plural(all, 'case')} that `,
      route.q && ['match the filter ', el('code', {}, clip(route.q))], route.q && differ && ' and ', differ && `differ from ${differ.label}`, '. ',
      el('a', { href: hrefTo({ q: '', different: '' }) }, `Cover all ${count(all)}`));
  }

  panel(title, ...content) {
    return el('section', { class: 'panel' }, el('h2', {}, nameText(title)), content);
  }

  graders(cases) {
    const rows = new Map();
    for (const it of cases) {
      it.graders.forEach((name, at) => {
        if (!rows.has(name)) rows.set(name, { name, values: [], p: 0, f: 0, u: 0, e: 0 });
        const row = rows.get(name);
        for (const trial of it.trials) {
          if (trial.verdicts[at] in row) row[trial.verdicts[at]]++;
          row.values.push(trial.values[at]);
        }
      });
    }
    if (!rows.size) return null;
    const sorted = [...rows.values()].sort((a, b) => (mean(a.values) ?? 2) - (mean(b.values) ?? 2));
    return this.panel('Graders', el('table', { class: 'plain rates' },
      el('thead', {}, el('tr', {}, [el('th', { scope: 'col' }, el('span', { class: 'hidden' }, 'Grader')), ...['Mean', 'Passed', 'Undecided', 'Errors'].map((label) => el('th', { scope: 'col', class: 'number' }, label))])),
      el('tbody', {}, sorted.slice(0, 40).map((row) => el('tr', {}, el('th', { scope: 'row' }, el('a', { href: hrefTo({ view: 'cases', q: within(`grader:${quoted(row.name)}:fail`) }) }, nameText(row.name))),
        el('td', {}, scoreBar(mean(row.values), null)), el('td', { class: 'number' }, `${count(row.p)} / ${count(row.p + row.f)}`), el('td', { class: 'number' }, row.u || NONE), el('td', { class: 'number' }, row.e || NONE))))));
  }

  rates(cases, label, of, query) {
    const groups = new Map();
    for (const it of cases) {
      for (const name of of(it)) {
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(it);
      }
    }
    // A key with a value of its own for nearly every case says nothing about groups.
    if (!groups.size || groups.size > 60 && groups.size > cases.length / 2) return null;
    const rows = [...groups].map(([name, members]) => ({ name, counts: tally(members) })).sort((a, b) => (a.counts.rate ?? 2) - (b.counts.rate ?? 2) || b.counts.run - a.counts.run);
    return this.panel(label, el('table', { class: 'plain rates' },
      el('thead', {}, el('tr', {}, [el('th', { scope: 'col' }, el('span', { class: 'hidden' }, label)), el('th', { scope: 'col' }, 'Pass rate'), el('th', { scope: 'col' }, 'Cases')])),
      el('tbody', {}, rows.slice(0, 12).map(({ name, counts }) => el('tr', {}, el('th', { scope: 'row' }, el('a', { href: hrefTo({ view: 'cases', q: within(query(name)) }) }, nameText(name))),
        el('td', {}, rateBar(counts)), el('td', { class: 'number' }, `${count(counts.p)} / ${count(counts.run)}`))))),
    rows.length > 12 && el('p', { class: 'note' }, `${plural(rows.length - 12, 'more value')}; group the table of cases by ${label} to see all.`));
  }

  board(title, cases, value) {
    if (!cases.length) return null;
    return this.panel(title, el('ol', { class: 'board' }, cases.slice(0, 8).map((it) => el('li', {}, sign(it.shown), el('a', { href: hrefTo({ view: 'case', case: it.key, trial: '' }), title: plain(clip(it.id)) }, clip(it.id)), el('span', { class: 'board-value' }, value(it))))));
  }

  /** Errors and skips by reason. */
  reasons(cases) {
    const groups = new Map();
    for (const it of cases) {
      if (it.outcome === 'p' || !it.code) continue;
      const name = `${it.outcome} ${it.code}`;
      if (!groups.has(name)) groups.set(name, { code: it.code, outcome: it.outcome, cases: [], messages: new Set() });
      groups.get(name).cases.push(it);
      groups.get(name).messages.add(it.reason);
    }
    if (!groups.size) return null;
    return this.panel('Reasons', el('ul', { class: 'reasons' }, [...groups.values()].sort((a, b) => b.cases.length - a.cases.length).map((group) => el('li', {}, sign(group.outcome),
      el('div', {}, el('a', { href: hrefTo({ view: 'cases', q: within(`code:${group.code} s:${OUTCOMES[group.outcome].name}`) }) }, group.code.replaceAll('_', ' ')), el('span', { class: 'muted' }, ` ${plural(group.cases.length, 'case')}`),
        el('p', { class: 'note' }, withCode([...group.messages][0])), group.messages.size > 1 && el('p', { class: 'note' }, `and ${plural(group.messages.size - 1, 'other message')}`))))));
  }

  judges() {
    const rows = this.report.suites.filter((suite) => suite.calibration);
    if (!rows.length) return null;
    return this.panel('Judges', el('table', { class: 'plain' },
      el('thead', {}, el('tr', {}, ['Suite', 'Judges', 'Agreement', 'κ', 'Samples'].map((label) => el('th', { scope: 'col' }, label)))),
      el('tbody', {}, rows.map(({ name, calibration }) => [el('tr', {}, el('th', { scope: 'row' }, nameText(name)), el('td', {}, calibration.judges.join(', ')), el('td', { class: 'number' }, percent(calibration.agreement, 0)), el('td', { class: 'number' }, score(calibration.kappa)), el('td', { class: 'number' }, `${calibration.valid} / ${calibration.samples}`)),
        calibration.shortfalls.map((text) => el('tr', {}, el('td', { colspan: 5, class: 'problem' }, text)))]))), wholeRunNote(this.report));
  }

  /** How often judges let answers pass, and how often people would, as far as the calibration tells. */
  judgedRates() {
    const rates = this.report.judgedRates;
    if (!rates.length) return null;
    const place = (rate) => [this.report.suites.length > 1 && rate.suite, this.report.targets.length > 1 && rate.target].filter(Boolean).join(' · ');
    return this.panel('Judged graders, corrected by calibration', el('table', { class: 'plain judged' },
      el('thead', {}, el('tr', {}, ['Grader', 'Judge', 'Corrected', 'Rated answers'].map((label) => el('th', { scope: 'col' }, label)))),
      el('tbody', {}, rates.map((rate) => el('tr', {}, el('th', { scope: 'row' }, nameText(rate.grader), el('span', { class: 'muted' }, ` ${place(rate)}`)),
        el('td', { class: 'number', title: `${rate.judge}, over ${plural(rate.cases, 'case')}` }, percent(rate.judge_rate, 0)), el('td', {}, intervalBar(rate.corrected_rate, [rate.lower, rate.upper])), el('td', { class: 'number' }, count(rate.samples)))))),
    el('p', { class: 'note' }, 'Judge: the share that passes by the judge. Corrected: the share that people would let pass.'), wholeRunNote(this.report));
  }
}

function isNarrowed(report) {
  return route.q !== '' || route.different !== '' && Boolean(basePast(report));
}

/** A filter inside the one that holds: what is counted here is what it lists. */
function within(term) {
  return route.q ? `${route.q} ${term}` : term;
}

/** Calibrations belong to suites, whatever the filter lets through. */
function wholeRunNote(report) {
  return isNarrowed(report) && el('p', { class: 'note' }, 'Of the whole run, not only of the cases that the filter lets through.');
}

/** The pass rate of some cases. */
function rateBar(counts) {
  const interval = wilson(counts.p, counts.run);
  return interval ? intervalBar(counts.rate, interval) : el('span', { class: 'muted' }, 'none ran');
}

/** A rate with its interval. */
function intervalBar(rate, [lower, upper]) {
  return el('span', { class: 'rate-bar', title: `95 % interval ${percent(lower, 0)} to ${percent(upper, 0)}` },
    el('span', { class: 'number' }, percent(rate, 0)),
    el('span', { class: 'track', 'aria-hidden': 'true' }, el('span', { class: 'value', style: { width: `${rate * 100}%` } }),
      el('span', { class: 'whisker', style: { left: `${lower * 100}%`, width: `${(upper - lower) * 100}%` } })));
}

/** What the run is, and what of it could not be read. */
class RunView {
  constructor(report) {
    this.report = report;
    this.element = el('section', { class: 'run-view' });
  }

  draw() {
    const { run, suites, problems, past } = this.report;
    const fact = (label, ...value) => el('div', {}, el('dt', {}, label), el('dd', {}, value));
    const base = basePast(this.report);
    replace(this.element,
      el('div', { class: 'view-head' }, el('h1', {}, 'Run')),
      problems.length > 0 && el('section', { class: 'callout is-error' }, sign('e', { label: false, size: 18 }), el('div', {}, el('p', { class: 'message' }, `${plural(problems.length, 'file')} could not be read`),
        el('ul', {}, problems.slice(0, 100).map((problem) => el('li', {}, el('code', {}, problem.file), ` ${problem.message}`))), problems.length > 100 && el('p', {}, `and ${problems.length - 100} more`))),
      el('dl', { class: 'facts wide-facts' }, fact('Id', el('code', {}, run.id)), fact('Started', moment(run.startedAt, true)), run.package && fact('Package', `${run.package} ${run.version || ''}`),
        run.git && fact('Commit', el('code', {}, run.git.commit), run.git.dirty && ' with changes'), run.ci && fact('CI', run.ci.provider, run.ci.url && [' ', el('code', {}, run.ci.url)]),
        run.shards > 0 && fact('Merged from', plural(run.shards, 'part')), fact('evalsuite', this.report.evalsuite),
        Object.entries(run.env).map(([name, value]) => fact(name, el('code', {}, value ?? '(secret)')))),
      suites.map((suite) => el('section', { class: 'panel' }, el('h2', {}, suite.name, suite.kind && el('span', { class: 'muted' }, ` ${suite.kind}`)),
        suite.tests !== null && el('p', {}, plural(suite.tests, 'test')), suite.diagnostics.length > 0 && el('ul', {}, suite.diagnostics.map((text) => el('li', {}, text))))),
      base && base.removed.length > 0 && el('section', { class: 'panel' }, el('h2', {}, `Not in this run, but on ${base.label}`), el('ul', {}, base.removed.slice(0, 200).map(([suite, id, target]) => el('li', {}, el('code', {}, `${suite}/${id}`), el('span', { class: 'muted' }, ` ${target}`))))),
      past.length > 0 && el('p', { class: 'note' }, `${plural(past.length, 'earlier run')} in this report.`));
  }
}
