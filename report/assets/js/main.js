// Starts the page, follows the address, and listens to the keyboard.

const page = { views: {}, order: [] };

async function start() {
  const index = JSON.parse(await inflate(takeElement('index')));
  if (index.transcripts) return startTranscripts(index);
  const report = new Report(index);
  page.report = report;
  page.main = el('main', { id: 'main', tabindex: -1 });
  page.bar = el('div', { class: 'bar-holder' });
  document.body.append(el('a', { class: 'skip', href: '#main', on: { click: (event) => { event.preventDefault(); page.main.focus(); } } }, 'Skip to content'),
    page.bar, page.main, el('div', { id: 'announcements', class: 'hidden', role: 'status', 'aria-live': 'polite' }), helpDialog());
  const order = () => page.order;
  page.views = { cases: new CasesView(report), case: new CaseView(report, order), grid: new GridView(report, order), trends: new TrendsView(report), breakdown: new BreakdownView(report, order), run: new RunView(report) };
  addEventListener('hashchange', follow);
  addEventListener('keydown', keyed);
  addEventListener('beforeprint', () => {
    if (route.view === 'cases') page.views.cases.table.print(true);
    document.querySelectorAll('article.page details').forEach((details) => { details.open = true; });
  });
  addEventListener('afterprint', () => page.views.cases.table?.print(false));
  show();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  return undefined;
}

/** Shows what the address says, unless that is what is shown. */
function follow() {
  if (location.hash !== page.hash) show();
}

/** Shows what the address says. */
function show() {
  page.hash = location.hash;
  const before = route;
  route = readRoute();
  const { views } = page;
  const same = page.shown === route.view;
  const changed = (...names) => names.some((name) => before[name] !== route[name]);
  replace(page.bar, drawHeader(page.report));
  // What the other views show is what the filter of the table lets through; texts in quotes were looked up there.
  const chosen = changed('q', 'different', 'base', 'sort', 'dir');
  if (route.view !== 'cases' && (!page.order.length || chosen)) page.order = views.cases.queried === route.q && views.cases.order ? views.cases.order : views.cases.select().cases;
  if (route.view === 'cases') {
    if (!same || changed('group', 'sort', 'dir', 'base', 'different', 'graders')) views.cases.draw();
    else views.cases.update();
    if (!same) {
      replace(page.main, views.cases.element);
      if (page.toFilter) focusFilter();
      else returnToRow();
    }
    page.toFilter = false;
  } else {
    if (page.shown === 'cases') {
      if (!chosen) page.order = views.cases.order || page.order;
      page.scrolled = { y: scrollY, row: views.cases.table.current };
      views.cases.table.remove();
    }
    if (!same) {
      replace(page.main, views[route.view].element);
      scrollTo(0, 0);
    }
    if (route.view === 'case' && changed('case')) scrollTo(0, 0);
    views[route.view].draw();
  }
  // What had the focus is gone; readers go on at the new content.
  if (!same && page.shown && route.view !== 'cases') page.main.focus({ preventScroll: true });
  page.shown = route.view;
}

function focusFilter() {
  const { input } = page.views.cases;
  input.focus();
  input.select();
}

/** Back in the table, the case that was open has the focus. */
function returnToRow() {
  const { table } = page.views.cases;
  if (!page.scrolled || !table) return;
  scrollTo(0, page.scrolled.y);
  const opened = page.views.case.it;
  const at = table.rows.findIndex((row) => row.it && row.it === opened);
  table.focus(at >= 0 ? at : page.scrolled.row);
}

function keyed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.getElementById('help').open) return;
  // After a link or Back, the event of the new address comes later than its first key may.
  follow();
  const typing = event.target.closest('input:not([type=checkbox]), select, textarea');
  if (event.key === 'Escape' && !typing) {
    if (route.view !== 'cases') go({ view: 'cases', case: '', trial: '', measure: DEFAULTS.measure });
    else if (route.q) go({ q: '' }, { replace: true });
    else document.activeElement.blur();
    return event.preventDefault();
  }
  if (typing) return undefined;
  const action = keyAction(event);
  if (!action) return undefined;
  event.preventDefault();
  return action();
}

function keyAction(event) {
  const { views } = page;
  const onCase = route.view === 'case';
  const onTable = route.view === 'cases';
  const views_ = Object.keys(VIEWS);
  switch (event.key) {
    case '?': return showHelp;
    case 't': return toggleTheme;
    case '/': return () => {
      if (onTable) return focusFilter();
      page.toFilter = true;
      return go({ view: 'cases', case: '', trial: '', measure: DEFAULTS.measure });
    };
    case 'j': return onCase ? () => views.case.moveCase(1) : onTable && (() => views.cases.table.move(1));
    case 'k': return onCase ? () => views.case.moveCase(-1) : onTable && (() => views.cases.table.move(-1));
    case 'ArrowDown': return onTable && inTable(event) && (() => views.cases.table.move(1));
    case 'ArrowUp': return onTable && inTable(event) && (() => views.cases.table.move(-1));
    case 'Home': return onTable && inTable(event) && (() => views.cases.table.focus(0));
    case 'End': return onTable && inTable(event) && (() => views.cases.table.focus(Infinity));
    case 'Enter': return onTable && event.target.classList.contains('row') && (() => views.cases.table.open());
    case 'ArrowLeft': return onCase && !event.target.closest('pre, .diff') && (() => views.case.moveTrial(-1));
    case 'ArrowRight': return onCase && !event.target.closest('pre, .diff') && (() => views.case.moveTrial(1));
    case 'a': return onCase && (() => go({ trial: route.trial === 'all' ? '' : 'all' }, { replace: true }));
    case 'd': return basePast(page.report) && (() => go({ view: 'cases', case: '', trial: '', different: route.different ? '' : '1' }, { replace: onTable }));
    default: return /^[1-5]$/.test(event.key) && (() => go({ view: views_[event.key - 1], case: '', trial: '' }));
  }
}

function inTable(event) {
  return event.target.closest('.rows');
}

start().catch((error) => {
  document.body.append(el('p', { class: 'empty' }, `The report cannot be shown: ${error.message}`));
  throw error;
});
