// The table of cases. Only the rows near the window are in the document: at most 60.

const ROW = 38, MOST_ROWS = 60;
/** Browsers take minutes to lay out thousands of rows on paper. */
const MOST_PRINTED = 500;

const COLUMNS = [
  { id: 'outcome', label: '', title: 'Outcome' },
  { id: 'id', label: 'Case' },
  { id: 'trials', label: 'Trials' },
  { id: 'score', label: 'Score' },
  { id: 'change', label: 'Change', compares: true },
  { id: 'time', label: 'Time' },
  { id: 'cost', label: 'Cost', costs: true },
];

class CaseTable {
  constructor(report, past) {
    this.report = report;
    this.past = past;
    this.rows = [];
    this.shown = new Map();
    this.current = 0;
    this.collapsed = new Set();
    const costs = report.cases.some((it) => it.cost !== null);
    this.columns = COLUMNS.filter((column) => (!column.compares || past) && (!column.costs || costs));
    const graders = chosenGraders(report).map((name, at) => ({ id: `grader:${name}`, kind: 'grader', grader: name, label: clip(name, 40), title: `the grader ${name}`, at }));
    this.columns.splice(this.columns.findIndex((column) => column.id === 'score') + 1, 0, ...graders);
    this.head = el('div', { class: 'row head', role: 'row' }, this.columns.map((column) => this.heading(column)));
    this.body = el('div', { class: 'rows', role: 'rowgroup' });
    this.unprinted = el('p', { class: 'unprinted' });
    this.element = el('div', { class: ['table', past && 'compares', costs && 'costs'].filter(Boolean).join(' '), style: { '--graders': graders.length ? `repeat(${graders.length}, 76px)` : ' ' }, role: 'grid', 'aria-label': 'Cases', 'aria-colcount': this.columns.length },
      el('div', { role: 'rowgroup', class: 'headgroup' }, this.head), this.body);
    this.paint = () => this.draw();
    addEventListener('scroll', this.paint, { passive: true });
    addEventListener('resize', this.paint);
  }

  /** Paper has no window: while it is printed, the first rows are there, and a sentence about the others. */
  print(printing) {
    this.printing = printing;
    this.draw();
    const left = this.rows.filter((row, index) => row.it && !this.shown.has(index)).length;
    replace(this.unprinted, printing && left > 0 && `${plural(left, 'more case')} not printed: the rows above are the first of ${plural(this.cases.length, 'case')} in the order of the table. A filter chooses others.`);
  }

  remove() {
    removeEventListener('scroll', this.paint);
    removeEventListener('resize', this.paint);
  }

  heading(column) {
    const sorted = route.sort === column.id;
    const flip = () => go({ sort: column.id, dir: sorted && route.dir === 'up' ? 'down' : 'up' }, { replace: true });
    return el('div', { role: 'columnheader', class: `cell c-${column.kind || column.id}`, 'aria-sort': sorted ? (route.dir === 'up' ? 'ascending' : 'descending') : 'none' },
      button([column.label || el('span', { class: 'hidden' }, column.title), sorted && el('span', { class: 'arrow', 'aria-hidden': 'true' }, route.dir === 'up' ? '↑' : '↓')], flip,
        { title: plain(`Sort by ${column.grader ? column.title : (column.title || column.label).toLowerCase()}`) }));
  }

  /** Shows groups of cases: `[{ name, cases }]`, one without a name for no groups. */
  show(groups) {
    this.groups = groups;
    const hadFocus = this.body.contains(document.activeElement);
    const focused = this.rows[this.current]?.it;
    this.rows = [];
    for (const group of groups) {
      if (group.name !== undefined) this.rows.push({ group });
      if (group.name === undefined || !this.collapsed.has(group.name)) this.rows.push(...group.cases.map((it) => ({ it })));
    }
    this.cases = groups.flatMap((group) => group.cases);
    const kept = this.rows.findIndex((row) => row.it && row.it === focused);
    this.current = kept >= 0 ? kept : Math.min(this.current, Math.max(0, this.rows.length - 1));
    this.body.style.height = `${this.rows.length * ROW}px`;
    // Rows that open and close are of a tree.
    this.element.setAttribute('role', groups.some((group) => group.name !== undefined) ? 'treegrid' : 'grid');
    this.element.setAttribute('aria-rowcount', this.rows.length + 1);
    replace(this.body);
    this.shown.clear();
    this.draw();
    if (hadFocus) this.focus(this.current);
  }

  draw() {
    const top = this.body.getBoundingClientRect().top;
    const visible = Math.ceil(innerHeight / ROW) + 1;
    const overscan = Math.max(0, Math.floor((MOST_ROWS - visible) / 2));
    const from = Math.max(0, Math.min(Math.floor(-top / ROW) - Math.min(overscan, 8), this.rows.length - 1));
    const to = Math.min(this.rows.length, from + Math.min(MOST_ROWS, visible + 2 * Math.min(overscan, 8)));
    if (this.printing) this.drawRange(0, Math.min(this.rows.length, MOST_PRINTED));
    else this.drawRange(from, to);
  }

  drawRange(from, to) {
    for (const [index, element] of this.shown) {
      if (index >= from && index < to) continue;
      // The focused row stays focused while it scrolls out of sight.
      if (element.contains(document.activeElement)) continue;
      element.remove();
      this.shown.delete(index);
    }
    // From the last to the first, so that each stands before its successor: readers follow the order of the document.
    const below = [...this.shown.keys()].filter((index) => index >= to);
    let next = below.length ? this.shown.get(Math.min(...below)) : null;
    for (let index = to - 1; index >= from; index--) {
      let element = this.shown.get(index);
      if (!element) {
        element = this.row(index);
        this.shown.set(index, element);
        this.body.insertBefore(element, next);
      }
      next = element;
    }
  }

  row(index) {
    const { it, group } = this.rows[index];
    const element = it ? this.caseRow(it) : this.groupRow(group);
    element.setAttribute('aria-rowindex', index + 2);
    element.tabIndex = index === this.current ? 0 : -1;
    element.style.transform = `translateY(${index * ROW}px)`;
    element.addEventListener('focus', () => this.mark(index));
    if (index === this.current) element.classList.add('current');
    return element;
  }

  caseRow(it) {
    const cell = (name, ...content) => el('div', { role: 'gridcell', class: `cell c-${name}` }, content);
    const cells = {
      outcome: () => cell('outcome', sign(it.shown)),
      id: () => cell('id', el('a', { class: 'id', href: hrefTo({ view: 'case', case: it.key, trial: '' }), tabindex: -1 }, clip(it.id)),
        el('span', { class: 'where' }, subtitle(this.report, it)), it.reason ? el('span', { class: 'because' }, withCode(it.reason)) : el('span', { class: 'tags' }, it.tags.slice(0, 3).map((tag) => tagLink(tag, { tabindex: -1 })))),
      trials: () => cell('trials', trialSigns(it)),
      score: () => cell('score', scoreBar(it.score, it.threshold)),
      change: () => cell('change', changeMark(it, this.past)),
      time: () => cell('time', duration(it.ms)),
      cost: () => cell('cost', it.cost === null ? NONE : costBound(it.cost, it.unknownCosts)),
    };
    const open = (event) => {
      if (event.target.closest('a') || String(getSelection())) return;
      go({ view: 'case', case: it.key, trial: '' });
    };
    return el('div', { class: 'row case', role: 'row', on: { click: open } }, this.columns.map((column) => (column.grader ? cell('grader', graderCell(it, column.grader)) : cells[column.id]())));
  }

  groupRow(group) {
    const counts = tally(group.cases);
    const closed = this.collapsed.has(group.name);
    const flip = () => {
      if (!this.collapsed.delete(group.name)) this.collapsed.add(group.name);
      this.show(this.groups);
      this.focus(this.rows.findIndex((row) => row.group && row.group.name === group.name));
    };
    return el('div', { class: closed ? 'row group closed' : 'row group', role: 'row', 'aria-expanded': String(!closed), on: { click: flip } },
      el('div', { role: 'gridcell', class: 'cell', 'aria-colspan': this.columns.length },
        icon('down'), el('strong', {}, clip(group.name) || 'none'),
        el('span', { class: 'muted' }, plural(group.cases.length, 'case')),
        outcomeBar(counts), el('span', { class: 'rate' }, percent(counts.rate))));
  }

  mark(index) {
    if (index === this.current) return;
    const old = this.shown.get(this.current);
    old?.classList.remove('current');
    if (old) old.tabIndex = -1;
    this.current = index;
    const element = this.shown.get(index);
    element?.classList.add('current');
    if (element) element.tabIndex = 0;
  }

  focus(index) {
    if (!this.rows.length) return;
    index = Math.max(0, Math.min(index, this.rows.length - 1));
    this.mark(index);
    const top = this.body.getBoundingClientRect().top + index * ROW;
    const above = stickyHeight() + ROW, below = innerHeight - 2 * ROW;
    if (top < above) scrollBy(0, top - above);
    else if (top > below) scrollBy(0, top - below);
    this.draw();
    this.shown.get(index)?.focus({ preventScroll: true });
  }

  move(step) {
    const focused = this.body.contains(document.activeElement);
    this.focus(focused ? this.current + step : this.current);
  }

  /** Opens the case, or opens and closes the group. */
  open() {
    const row = this.rows[this.current];
    if (row?.it) go({ view: 'case', case: row.it.key, trial: '' });
    else this.shown.get(this.current)?.click();
  }
}

/** The graders that the address shows as columns. */
function chosenGraders(report) {
  const names = new Set(route.graders.split(',').map(unquoted));
  return report.graders.filter((name) => names.has(name));
}

/** A name of the list in the address. */
function unquoted(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return '';
  }
}

/** The mean value of a grader over the trials of a case; null without one. */
function graderMean(it, name) {
  const at = it.graders.indexOf(name);
  return at < 0 ? null : mean(it.trials.map((trial) => trial.values[at]));
}

/** A number on a colour between that of a failure and that of a pass. */
function graderCell(it, name) {
  const value = graderMean(it, name);
  if (value === null || value === undefined) return el('span', { class: 'muted' }, NONE);
  const share = Math.round(Math.max(0, Math.min(1, value)) * 100);
  return el('span', { class: 'heat number', style: { background: `color-mix(in srgb, var(--passed-soft) ${share}%, var(--failed-soft))` } }, score(value));
}

function stickyHeight() {
  return document.querySelector('.toolbar')?.getBoundingClientRect().bottom || 0;
}

/** Suite and target, where there are several; else where the test is. */
function subtitle(report, it) {
  const parts = [];
  if (report.suites.length > 1 && route.group !== 'suite') parts.push(it.suite);
  if (report.targets.length > 1 && route.group !== 'target') parts.push(it.target);
  return parts.length ? parts.join(' · ') : it.test.split('::').slice(1).join('::');
}

/** A tag, which leads to the cases that have it. */
function tagLink(tag, attributes) {
  return el('a', { class: 'chip', href: hrefTo({ view: 'cases', case: '', trial: '', q: `@${quoted(clip(tag))}` }), ...attributes }, `@${clip(tag)}`);
}

/** One sign per trial, up to ten. */
function trialSigns(it) {
  if (!it.trials.length) return el('span', { class: 'muted' }, NONE);
  const words = it.trials.map((trial) => OUTCOMES[trial.outcome].name).join(', ');
  const label = `${it.passed} of ${it.trials.length} passed: ${words}`;
  if (it.trials.length > 10) return el('span', { class: 'signs', role: 'img', 'aria-label': label }, `${it.passed} / ${it.trials.length}`);
  return el('span', { class: 'signs', role: 'img', 'aria-label': label }, it.trials.map((trial) => sign(trial.outcome, { label: false, size: 14 })));
}

function scoreBar(value, threshold) {
  if (value === null || value === undefined) return el('span', { class: 'muted' }, NONE);
  const low = threshold !== null && threshold !== undefined && value < threshold;
  return [el('span', { class: 'number' }, score(value)),
    el('span', { class: low ? 'meter low' : 'meter', 'aria-hidden': 'true' },
      el('span', { class: 'value', style: { width: `${Math.max(0, Math.min(1, value)) * 100}%` } }),
      threshold > 0 && el('span', { class: 'threshold', style: { left: `${Math.min(1, threshold) * 100}%` } }))];
}

function changeMark(it, past) {
  const change = it.change(past);
  switch (change.kind) {
    case 'better': return el('span', { class: 'change better' }, '▲ passes now');
    case 'worse': return el('span', { class: 'change worse' }, it.outcome === 's' ? '▽ skipped now' : '▼ fails now');
    case 'score': return el('span', { class: 'change' }, `${change.delta > 0 ? '▴' : '▾'} ${signed(change.delta, score)}`);
    case 'added': return el('span', { class: 'change' }, 'new');
    case 'definition': return el('span', { class: 'change', title: 'Not compared: the case is not the one of that run' }, 'redefined');
    default: return el('span', { class: 'muted' }, '·');
  }
}

/** Outcomes as shares of a bar; the words are beside it. Marks show the pass rates of an agent that does nothing and of the references. */
function outcomeBar(counts, probe) {
  const parts = [['passed', counts.p - counts.flaky], ['flaky', counts.flaky], ['failed', counts.f], ['error', counts.e], ['skipped', counts.s]];
  const bar = el('span', { class: 'outcomes', 'aria-hidden': 'true' },
    parts.filter(([, number]) => number > 0).map(([name, number]) => el('span', { class: `part is-${name}`, style: { 'flex-grow': number } })));
  if (!probe) return bar;
  const all = counts.run + counts.s;
  const mark = (name, rate) => rate !== null && el('span', { class: `mark is-${name}`, title: `${name} ${percent(rate, 0)}`, style: { left: `${all ? rate * counts.run / all * 100 : 0}%` } });
  return el('span', { class: 'marked', 'aria-hidden': 'true' }, bar, mark('floor', probe.floor), mark('ceiling', probe.ceiling));
}
