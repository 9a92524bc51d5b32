// The bar above every view: which run this is, the views, and the theme.

const VIEWS = { cases: 'Cases', breakdown: 'Breakdown', grid: 'Grid', trends: 'Trends', run: 'Run' };

function drawHeader(report) {
  const { run } = report;
  const links = Object.entries(VIEWS).map(([view, label]) => {
    const current = route.view === view || (view === 'cases' && route.view === 'case');
    return el('a', { href: hrefTo({ view, case: '', trial: '' }), 'aria-current': current && 'page' }, label,
      view === 'run' && report.problems.length > 0 && el('span', { class: 'badge', title: 'Files that could not be read' }, report.problems.length));
  });
  const name = run.package ? `${run.package} ${run.version || ''}` : 'evalsuite';
  document.title = plain(`${name.trim()} · ${run.id}`);
  return el('header', { class: 'bar' },
    el('a', { class: 'brand', href: hrefTo({ ...DEFAULTS }) , 'aria-label': 'All cases' },
      svg('svg', { viewBox: '0 0 20 20', width: 20, height: 20, 'aria-hidden': 'true' },
        svg('rect', { class: 'm1', x: 1, y: 1, width: 8, height: 8, rx: 2.2 }), svg('rect', { class: 'm2', x: 11, y: 1, width: 8, height: 8, rx: 2.2 }),
        svg('rect', { class: 'm2', x: 1, y: 11, width: 8, height: 8, rx: 2.2 }), svg('path', { class: 'm3', d: 'M11.5 15.2 14 17.7 19 11.5' }))),
    el('div', { class: 'identity' },
      el('strong', {}, name.trim()),
      el('span', { class: 'muted' }, moment(run.startedAt, true)),
      run.git && el('code', { class: 'muted', title: run.git.commit }, run.git.commit.slice(0, 7), run.git.dirty && '+'),
      report.inUse && el('span', { class: 'chip' }, 'still running')),
    el('nav', { 'aria-label': 'Views' }, links),
    el('div', { class: 'tools' },
      button(icon('sun'), toggleTheme, { class: 'quiet', 'aria-label': 'Switch between light and dark' }),
      button('?', showHelp, { class: 'quiet', 'aria-label': 'Keyboard and filters' })));
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset.theme = isDark ? 'light' : 'dark';
  window.dispatchEvent(new Event('themechange'));
}
