// The signs of outcomes and the few other icons. An outcome has a shape and a colour, never a colour alone.

const OUTCOMES = {
  p: { name: 'passed', label: 'Passed' },
  f: { name: 'failed', label: 'Failed' },
  e: { name: 'error', label: 'Error' },
  s: { name: 'skipped', label: 'Skipped' },
  '~': { name: 'flaky', label: 'Flaky' },
  u: { name: 'undecided', label: 'Undecided' },
  '-': { name: 'missing', label: 'Not run' },
};

const CODE_OF = { passed: 'p', failed: 'f', error: 'e', skipped: 's' };

const SIGNS = {
  p: ['circle', 'M5 8.2 7.2 10.4 11.2 5.8'],
  f: ['circle', 'M5.6 5.6 10.4 10.4 M10.4 5.6 5.6 10.4'],
  e: ['triangle', 'M8 6.2 V9.2 M8 11.2 V11.3'],
  s: ['ring', 'M5.2 8 H10.8'],
  '~': ['circle', 'M4.6 9 Q6.3 5.4 8 8 T11.4 7'],
  u: ['ring', 'M8 8 V8.1'],
  '-': ['ring', ''],
};

/** The sign of an outcome; `label: false` where the text beside it says the same. */
function sign(code, { label = true, size = 16 } = {}) {
  const outcome = OUTCOMES[code];
  const [shape, stroke] = SIGNS[code];
  const attributes = label ? { role: 'img', 'aria-label': outcome.label } : { 'aria-hidden': 'true' };
  const body = shape === 'triangle'
    ? svg('path', { class: 'body', d: 'M8 1.6 15 14 H1 Z' })
    : svg('circle', { class: shape === 'ring' ? 'body hollow' : 'body', cx: 8, cy: 8, r: shape === 'ring' ? 6.2 : 7 });
  return svg('svg', { class: `sign is-${outcome.name}`, viewBox: '0 0 16 16', width: size, height: size, ...attributes },
    body, stroke && svg('path', { class: 'mark', d: stroke }));
}

/** A sign with its word. */
function pill(code, text) {
  return el('span', { class: `pill is-${OUTCOMES[code].name}` }, sign(code, { label: false, size: 14 }), text || OUTCOMES[code].label);
}

const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4 14 14',
  back: 'M9.5 3 4.5 8 9.5 13',
  next: 'M6.5 3 11.5 8 6.5 13',
  down: 'M3 6 8 11 13 6',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M13 3l-1.2 1.2M4.2 11.8 3 13',
  wrench: 'M10.2 2.2a3.6 3.6 0 0 0-3.4 4.9L2.5 11.4l2.1 2.1 4.3-4.3a3.6 3.6 0 0 0 4.7-4.5l-2.2 2.2-2-.6-.5-1.9z',
  person: 'M8 2.2a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4ZM2.8 13.8c.4-3 2.4-4.4 5.2-4.4s4.8 1.4 5.2 4.4',
  agent: 'M3.5 5.5h9v7h-9zM8 2.5v3M6 8.6v.9M10 8.6v.9',
  system: 'M3 4h10M3 8h10M3 12h6',
};

function icon(name) {
  return svg('svg', { class: 'icon', viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, svg('path', { d: PATHS[name] }));
}
