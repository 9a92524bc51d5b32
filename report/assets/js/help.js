// Keys and filters, on `?`.

const KEYS = [
  ['/', 'Filter'], ['j  k', 'Next and previous case'], ['Enter', 'Open the case'], ['←  →', 'Previous and next trial'], ['a', 'Trials side by side'],
  ['d', 'Different only'], ['1 … 5', 'Views'], ['t', 'Light or dark'], ['Esc', 'Back'], ['?', 'This help'],
];

const FILTERS = [
  ['s:failed', 'passed, failed, error, skipped, flaky; `s:failed,error` for several'], ['@nightly', 'tag'], ['metadata.language:de', 'metadata; `metadata.level>3` for numbers'],
  ['grader:tone<0.5', 'value in any trial; `grader:tone:fail` for verdicts'], ['time:>60s', 'also cost, tokens, score, trials, passed, answers'],
  ['suite:shop', 'also id, target, file, test, agent, code, bucket'], ['change:worse', 'better, worse, score, new, definition, same'],
  ['"thirty days"', 'text in prompts, answers and transcripts'], ['refund', 'text in id, test, file, tag or reason'], ['-s:passed', 'not'],
];

function helpDialog() {
  const rows = (pairs, show) => el('table', { class: 'plain' }, el('tbody', {}, pairs.map(([name, text]) => el('tr', {}, el('th', { scope: 'row' }, show(name)), el('td', {}, text.split('`').map((part, at) => (at % 2 ? el('code', {}, part) : part)))))));
  return el('dialog', { id: 'help', 'aria-labelledby': 'help-title' },
    el('form', { method: 'dialog' }, el('div', { class: 'dialog-head' }, el('h2', { id: 'help-title' }, 'Keyboard and filters'), el('button', { class: 'quiet', 'aria-label': 'Close' }, '✕'))),
    el('div', { class: 'help-columns' }, el('section', {}, el('h3', {}, 'Keys'), rows(KEYS, (name) => name.split('  ').map((one) => key(one)))), el('section', {}, el('h3', {}, 'Filters'), rows(FILTERS, (name) => el('code', {}, name)))));
}

function showHelp() {
  const dialog = document.getElementById('help');
  if (!dialog.open) dialog.showModal();
}
