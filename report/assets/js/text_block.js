// Recorded texts: long lines and long texts are folded, all of it one click away.

const LONG_LINE = 10_000, MANY_LINES = 60;

/** A text, with a button that copies it. */
function textBlock(text, { lines = MANY_LINES, label = 'Text', omitted = 0, className = '' } = {}) {
  const body = el('pre', { tabindex: 0, 'aria-label': label, class: className });
  const all = text.split('\n');
  const draw = (most) => {
    const parts = [];
    let plainLines = '';
    all.slice(0, most).forEach((line, at) => {
      if (at) plainLines += '\n';
      if (line.length <= LONG_LINE) plainLines += line;
      else {
        parts.push(plainLines, foldedLine(line));
        plainLines = '';
      }
    });
    replace(body, parts, plainLines);
  };
  const block = el('div', { class: 'text' }, body);
  block.append(button(icon('copy'), (event) => copy(text, event.currentTarget), { class: 'copy quiet', 'aria-label': `Copy ${label.toLowerCase()}` }));
  if (all.length > lines) {
    draw(lines);
    const more = button(`Show all ${count(all.length)} lines`, () => { draw(all.length); more.remove(); }, { class: 'more' });
    block.append(more);
  } else draw(all.length);
  if (omitted) block.append(el('p', { class: 'note' }, `${bytes(omitted)} more are in the file.`));
  return block;
}

function foldedLine(line) {
  if (line.length <= LONG_LINE) return textNodes(line);
  const holder = el('span', {}, line.slice(0, LONG_LINE));
  const more = button(`… show all ${count(line.length)} characters of this line`, () => {
    const rest = line.slice(LONG_LINE);
    more.replaceWith(el('span', {}, rest));
  }, { class: 'more inline' });
  holder.append(more);
  return [holder];
}

/** A message with the names between backticks as code. */
function withCode(message) {
  if (message.length > LONG_LINE) return foldedLine(message);
  return message.split(/`([^`\n]+)`/).map((part, at) => (at % 2 ? el('code', {}, part) : part));
}

/** Copies a text; `blockOf` gives the element to select where the clipboard is closed. */
async function copy(text, from, blockOf = () => from.closest('.text')?.querySelector('pre') || from.previousElementSibling) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages opened from a disk may not write to the clipboard in every browser: the text is selected instead.
    const range = document.createRange();
    const block = blockOf();
    if (!block) return;
    range.selectNodeContents(block);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    announce('Selected');
    return;
  }
  announce('Copied');
  from.classList.add('done');
  setTimeout(() => from.classList.remove('done'), 1200);
}

/** A part that is opened on demand; its content is made then. */
function fold(title, make, { open = false, className = '' } = {}) {
  const details = el('details', { class: `fold ${className}`, open }, el('summary', {}, title));
  const draw = () => {
    if (details.open && details.children.length === 1) details.append(el('div', { class: 'folded' }, make()));
  };
  details.addEventListener('toggle', draw);
  draw();
  return details;
}

function json(value) {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
