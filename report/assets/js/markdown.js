// Answers as Markdown. Written by hand: the page is one file without dependencies, and its content security policy lets nothing be loaded.
// Elements and text nodes only; what is not known here stays text.

// Bounds keep texts that are made to be slow from being so.
const MOST_MARKDOWN = 100_000, MOST_INLINE = 10_000, MOST_NESTED = 8, MOST_TRIES = 100, LONG_MARK = 1000;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const ADDRESS = /^(?:https?:\/\/|mailto:)[^\s<>"]+$/i;

/** The elements of a text in Markdown. */
function markdown(text) {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const levels = lines.map((line) => HEADING.exec(line)?.[1].length).filter(Boolean);
  // The highest heading of the answer comes below that of its section.
  return blocks(lines, 3 - (levels.length ? levels.reduce((a, b) => Math.min(a, b)) : 1), 0);
}

function blocks(lines, shift, depth) {
  const made = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    let match;
    if (!line.trim()) at++;
    else if (depth < MOST_NESTED && (match = fenceOf(line))) {
      const end = fenceEnd(lines, at, match[1]);
      made.push(el('pre', { tabindex: 0, 'aria-label': plain(clip(match[2].trim(), 40)) || 'Code' }, el('code', {}, lines.slice(at + 1, end).join('\n'))));
      at = end + 1;
    } else if ((match = HEADING.exec(line))) {
      made.push(el(`h${Math.min(6, match[1].length + shift)}`, {}, inline(match[2].trimEnd().replace(/[ \t]#+$/, ''))));
      at++;
    } else if (RULE.test(line)) {
      made.push(el('hr'));
      at++;
    } else if (depth < MOST_NESTED && QUOTE.test(line)) {
      let end = at;
      while (end < lines.length && QUOTE.test(lines[end])) end++;
      made.push(el('blockquote', {}, blocks(lines.slice(at, end).map((one) => one.replace(QUOTE, '')), shift, depth + 1)));
      at = end;
    } else if (depth < MOST_NESTED && ITEM.test(line)) {
      const [list, end] = listAt(lines, at, shift, depth);
      made.push(list);
      at = end;
    } else if (tableStarts(lines, at)) {
      let end = at + 2;
      while (end < lines.length && lines[end].includes('|')) end++;
      made.push(tableOf(lines.slice(at, end)));
      at = end;
    } else {
      let end = at + 1;
      while (end < lines.length && lines[end].trim() && !(depth < MOST_NESTED && startsBlock(lines, end))) end++;
      made.push(el('p', {}, inline(lines.slice(at, end).join('\n'))));
      at = end;
    }
  }
  return made;
}

function startsBlock(lines, at) {
  const line = lines[at];
  return fenceOf(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line) || tableStarts(lines, at);
}

function fenceOf(line) {
  return line.length <= LONG_MARK ? FENCE.exec(line) : null;
}

/** The line that closes a fence; the end, if none does. */
function fenceEnd(lines, at, fence) {
  let end = at + 1;
  while (end < lines.length) {
    const line = lines[end].trim();
    if (line.length >= fence.length && line === fence[0].repeat(line.length)) break;
    end++;
  }
  return end;
}

/** A list, and the line after it. An item has what is indented below its first word, and the lines that go on with its paragraph. */
function listAt(lines, from, shift, depth) {
  const kind = (marker) => marker[marker.length - 1];
  const [, , first] = ITEM.exec(lines[from]);
  const items = [];
  let at = from, match;
  while (at < lines.length && (match = ITEM.exec(lines[at])) && kind(match[2]) === kind(first) && !RULE.test(lines[at])) {
    const indent = match[1].length + match[2].length + (match[3].length > 4 ? 1 : Math.max(1, match[3].length));
    const content = [lines[at].slice(indent)];
    at++;
    while (at < lines.length) {
      const line = lines[at];
      const indented = line.search(/\S/) >= Math.min(indent, 4) || line.search(/\S/) >= 2 && match[1].length === 0 && ITEM.test(line);
      const blank = !line.trim();
      const goesOn = blank ? /^ {2,}\S/.test(lines[at + 1] ?? '') : indented || content[content.length - 1].trim() && !ITEM.test(line) && !startsBlock(lines, at);
      if (!goesOn) break;
      content.push(line.slice(Math.min(indent, Math.max(0, line.search(/\S/)))));
      at++;
    }
    items.push(content);
    // Blank lines between items do not end the list.
    let next = at;
    while (next < lines.length && !lines[next].trim()) next++;
    if (next > at && ITEM.test(lines[next] ?? '') && kind(ITEM.exec(lines[next])[2]) === kind(first)) at = next;
  }
  const ordered = /\d/.test(first);
  const start = ordered ? Number.parseInt(first, 10) : 1;
  return [el(ordered ? 'ol' : 'ul', { start: ordered && start !== 1 && start }, items.map((content) => el('li', {}, itemContent(blocks(content, shift, depth + 1))))), at];
}

/** An item of one paragraph has no paragraph of its own. */
function itemContent(made) {
  return made[0]?.localName === 'p' ? [[...made[0].childNodes], made.slice(1)] : made;
}

function tableStarts(lines, at) {
  return lines[at].includes('|') && lines[at + 1]?.includes('-') && lines[at + 1].length <= LONG_MARK && DELIMITERS.test(lines[at + 1]) && cellsOf(lines[at]).length === cellsOf(lines[at + 1]).length;
}

function cellsOf(line) {
  return line.trim().replace(/^\|/, '').replace(/(^|[^\\])\|$/, '$1').split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function tableOf([head, delimiters, ...rows]) {
  const sides = cellsOf(delimiters).map((cell) => (cell.endsWith(':') ? (cell.startsWith(':') ? 'center' : 'right') : null));
  const cells = (name, line) => {
    const texts = cellsOf(line);
    return sides.map((side, at) => el(name, { scope: name === 'th' && 'col', style: side ? { 'text-align': side } : {} }, inline(texts[at] ?? '')));
  };
  return el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' }, el('table', {}, el('thead', {}, el('tr', {}, cells('th', head))), el('tbody', {}, rows.map((row) => el('tr', {}, cells('td', row))))));
}

/** Code, emphasis and links in a text. */
function inline(text, depth = 0) {
  if (text.length > MOST_INLINE) return text.split('\n').flatMap((line, at) => [at > 0 && '\n', foldedLine(line)]);
  const made = [];
  let pending = '', at = 0;
  while (at < text.length) {
    const found = depth < MOST_NESTED ? spanAt(text, at, depth) : null;
    if (found) {
      made.push(pending, found.node);
      pending = '';
      at = found.end;
    } else {
      // All of a run at once: its second mark starts nothing that its first does not.
      const skipped = /^(?:\\[!-/:-@[-`{-~]|\*+|_+|~+|`+)/.exec(text.slice(at, at + 200))?.[0] ?? text[at];
      pending += skipped.length > 1 && skipped[0] === '\\' ? skipped[1] : skipped;
      at += skipped.length;
    }
  }
  made.push(pending);
  return made;
}

/** The element that starts here, and where it ends. */
function spanAt(text, at, depth) {
  switch (text[at]) {
    case '`': return codeAt(text, at);
    case '*': case '_': case '~': return emphasisAt(text, at, depth);
    case '[': return text[at - 1] === '!' ? null : linkAt(text, at);
    case '<': return angledAt(text, at);
    case 'h': case 'H': return bareAt(text, at);
    default: return null;
  }
}

function codeAt(text, at) {
  const fence = /^`+/.exec(text.slice(at))[0];
  let end = text.indexOf(fence, at + fence.length);
  // A longer run is another one.
  while (end >= 0 && text[end + fence.length] === '`') {
    let next = end;
    while (text[next] === '`') next++;
    end = text.indexOf(fence, next);
  }
  if (end < 0) return null;
  const code = text.slice(at + fence.length, end);
  return { node: el('code', {}, code.trim() && code.startsWith(' ') && code.endsWith(' ') ? code.slice(1, -1) : code), end: end + fence.length };
}

function emphasisAt(text, at, depth) {
  const sign = text[at];
  const double = text[at + 1] === sign;
  if (sign === '~' && !double) return null;
  const mark = double ? sign + sign : sign;
  const from = at + mark.length;
  const word = /[\p{L}\p{N}]/u;
  let tries = 0;
  if (/\s|^$/.test(text[from] ?? '') || sign === '_' && word.test(text[at - 1] ?? '')) return null;
  for (let end = text.indexOf(mark, from + 1); end >= 0 && tries++ < MOST_TRIES; end = text.indexOf(mark, end + 1)) {
    if (/\s|\\/.test(text[end - 1])) continue;
    // `*a **b** c*`: a single mark does not end at a double one, and a double one ends at the end of a run.
    if (!double && text[end + 1] === sign) {
      end++;
      continue;
    }
    if (double && text[end + 2] === sign) continue;
    if (sign === '_' && word.test(text[end + mark.length] ?? '')) continue;
    const name = sign === '~' ? 'del' : double ? 'strong' : 'em';
    return { node: el(name, {}, inline(text.slice(from, end), depth + 1)), end: end + mark.length };
  }
  return null;
}

function linkAt(text, at) {
  const match = /^\[((?:[^\[\]\\]|\\.){1,1000})\]\(<?([^\s<>()"]*(?:\([^\s<>()"]*\)[^\s<>()"]*)*)>?(?:[ \t]+"[^"\n]*")?\)/s.exec(text.slice(at, at + 4000));
  const node = match && anchor(match[2], () => withCode(match[1]));
  return node ? { node, end: at + match[0].length } : null;
}

function angledAt(text, at) {
  const match = /^<([^\s<>]{1,2000})>/.exec(text.slice(at, at + 2002));
  const node = match && anchor(match[1], () => match[1]);
  return node ? { node, end: at + match[0].length } : null;
}

function bareAt(text, at) {
  if (/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return null;
  const match = /^https?:\/\/[^\s<>"`*]{1,2000}/i.exec(text.slice(at, at + 2010));
  if (!match) return null;
  const address = match[0].replace(/[.,;:!?'_~\]]+$/, '').replace(/^([^(]*)\)+$/, '$1');
  const node = anchor(address, () => address);
  return node ? { node, end: at + address.length } : null;
}

/** A link to a page or a mailbox, with its address as title; other schemes are no links. */
function anchor(address, label) {
  if (!ADDRESS.test(address) || UNSEEN.test(address) || !URL.canParse(address)) return null;
  return el('a', { href: address, title: address, rel: 'noopener noreferrer', target: '_blank' }, label());
}

// What was chosen last holds for all answers of the page.
let showsRaw = false;

/** An answer as Markdown, with a switch to the text as it was recorded. That text is what is copied. */
function answerBlock(text, { lines, label }) {
  const raw = textBlock(text, { lines, label, className: 'prose answer' });
  if (text.length > MOST_MARKDOWN || isData(text)) return raw;
  const block = el('div', { class: 'formatted' });
  const draw = () => {
    const copied = (event) => copy(text, event.currentTarget, () => {
      choose(true);
      return raw.querySelector('pre');
    });
    const choice = (chosen, name) => button(name, () => {
      choose(chosen);
      block.querySelector('[aria-pressed="true"]').focus();
    }, { 'aria-pressed': String(showsRaw === chosen) });
    replace(block, el('div', { class: 'as', role: 'group', 'aria-label': `${label} as` }, choice(false, 'Formatted'), choice(true, 'Raw')),
      showsRaw ? raw : el('div', { class: 'text' }, el('div', { class: 'markdown', tabindex: 0, role: 'group', 'aria-label': label }, markdown(text)),
        button(icon('copy'), copied, { class: 'copy quiet', 'aria-label': `Copy ${label.toLowerCase()}` })));
  };
  const choose = (chosen) => {
    showsRaw = chosen;
    for (const one of document.querySelectorAll('.formatted')) one.dispatchEvent(new Event('choose'));
  };
  block.addEventListener('choose', draw);
  draw();
  return block;
}

/** Data in JSON has signs that would be taken for Markdown. */
function isData(text) {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
