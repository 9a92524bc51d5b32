// The last runs: pass rate, score, cost and time, over all suites or one of them.

class TrendsView {
  constructor(report) {
    this.report = report;
    this.element = el('section', { class: 'trends' });
  }

  draw() {
    const { report } = this;
    if (!report.past.length) {
      replace(this.element, el('h1', { class: 'hidden' }, 'Trends'), el('div', { class: 'empty' }, el('h2', {}, 'No earlier runs'), el('p', {}, 'Trends need at least two runs of a suite in the same output directory. ', el('code', {}, '--history N'), ' says how many are shown.')));
      return;
    }
    const suites = [...new Set(report.totals.map((it) => it.suite))];
    const chosen = suites.includes(route.measure) ? route.measure : '';
    const of = (totals) => totals.filter((it) => !chosen || it.suite === chosen);
    const runs = [...report.past.map((past) => of(past.totals)), of(report.totals)];
    const labels = [...report.past.map((past) => dayOf(past.run)), 'this run'];
    const counts = runs.map((totals) => totals.reduce((all, it) => ({ p: all.p + it.cases.passed, n: all.n + it.cases.passed + it.cases.failed + it.cases.error }), { p: 0, n: 0 }));
    const rates = counts.map(({ p, n }) => (n ? p / n : null));
    const scores = runs.map((totals) => pooled(totals, 'score', 'scoredCases'));
    const times = runs.map((totals) => pooled(totals, 'ms', 'timedTrials'));
    const costs = runs.map((totals) => sum(totals.map((it) => it.costUsd)));
    const unknown = runs.map((totals) => sum(totals.map((it) => it.unknownCosts)));
    const plots = [
      linePlot({ title: 'Pass rate of cases', labels, show: (value) => percent(value, 0), to: 1, series: [{ values: rates, intervals: counts.map(({ p, n }) => wilson(p, n)) }] }),
      linePlot({ title: 'Mean score', labels, show: score, from: 0, to: 1, series: [{ values: scores }] }),
      linePlot({ title: 'Cost of the agent', labels, show: dollars, from: 0, series: [{ values: costs }] }),
      linePlot({ title: 'Mean time of a trial', labels, show: duration, from: 0, series: [{ values: times }] }),
    ].filter(Boolean);
    replace(this.element,
      el('div', { class: 'view-head' }, el('h1', {}, `The last ${count(runs.length)} runs`),
        suites.length > 1 && pick('Suite', [['', 'All'], ...suites.map((suite) => [suite, suite])], chosen, (measure) => go({ measure: measure || DEFAULTS.measure }, { replace: true }))),
      el('p', { class: 'note' }, 'Shaded: 95 % interval of the rate (Wilson). Runs may differ in their cases; the grid shows which.'),
      el('div', { class: 'plots' }, plots),
      el('div', { class: 'scroll', role: 'region', 'aria-label': 'Runs', tabindex: 0 }, el('table', { class: 'plain' },
        el('thead', {}, el('tr', {}, ['Run', 'Started', 'Commit', 'Passed', 'Rate', 'Score', 'Cost'].map((label) => el('th', { scope: 'col' }, label)))),
        el('tbody', {}, [...report.past.map((past) => past.run), report.run].map((run, at) => [run, at]).reverse().map(([run, at]) => el('tr', {},
          el('td', {}, el('code', {}, run.id), run === report.run && el('span', { class: 'chip' }, 'this run')), el('td', {}, moment(run.startedAt, true)), el('td', {}, run.git ? el('code', {}, run.git.commit.slice(0, 7)) : NONE),
          el('td', { class: 'number' }, `${counts[at].p} / ${counts[at].n}`), el('td', { class: 'number' }, percent(rates[at])), el('td', { class: 'number' }, score(scores[at])), el('td', { class: 'number' }, costBound(costs[at], unknown[at]))))))));
  }
}

function dayOf(run) {
  const date = new Date(run.startedAt || '');
  return Number.isNaN(date.getTime()) ? run.id.slice(0, 10) : date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}
