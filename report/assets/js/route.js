// What the page shows, in the hash of its address: any view can be linked, and Back works.

const DEFAULTS = { view: 'cases', case: '', trial: '', q: '', sort: 'outcome', dir: 'up', group: '', base: '', different: '', graders: '', measure: 'rate' };

let route = { ...DEFAULTS };

function readRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const next = { ...DEFAULTS };
  for (const [name, value] of new URLSearchParams(query || '')) if (Object.hasOwn(DEFAULTS, name)) next[name] = value;
  const parts = path.split('/');
  if (parts[0] === 'case' && parts.length > 1) {
    next.view = 'case';
    try {
      next.case = decodeURIComponent(parts.slice(1).join('/'));
    } catch {
      next.view = 'cases';
    }
  } else if (['grid', 'trends', 'breakdown', 'run'].includes(parts[0])) next.view = parts[0];
  return next;
}

function hashOf(target) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(target)) {
    if (name !== 'view' && name !== 'case' && value !== DEFAULTS[name]) query.set(name, value);
  }
  const path = target.view === 'case' ? `case/${encodeURIComponent(target.case)}` : target.view === 'cases' ? '' : target.view;
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ''}`;
}

/** Address of another state of the page. */
function hrefTo(changes) {
  return hashOf({ ...route, ...changes });
}

/** Goes to another state, at once: the next key acts on it. Typing and moving replace the entry of the browser's history. */
function go(changes, { replace = false } = {}) {
  const hash = hrefTo(changes);
  if (hash === hashOf(route) && hash === location.hash) return;
  if (replace) history.replaceState(null, '', hash);
  else history.pushState(null, '', hash);
  window.dispatchEvent(new Event('hashchange'));
}
