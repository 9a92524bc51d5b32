// Elements. Everything recorded reaches the page through here, as text; nothing is parsed as markup.

const SVG = 'http://www.w3.org/2000/svg';

// Characters that would hide or reorder text: shown as escapes.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/;

/** An element: `el('p', { class: 'note', on: { click } }, 'text', child)`. */
function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === 'style') for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

/** Puts these children in the place of all others. */
function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    if (child instanceof Node) element.append(child);
    // One by one: a call has room for some ten thousand arguments only.
    else for (const node of textNodes(String(child))) element.append(node);
  }
}

/** A text with unseen characters as escapes that can be seen. */
function textNodes(text) {
  if (!UNSEEN.test(text)) return [document.createTextNode(text)];
  const nodes = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (!UNSEEN.test(text[at])) continue;
    if (nodes.length > 1000) break;
    if (at > from) nodes.push(document.createTextNode(text.slice(from, at)));
    const code = text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
    const escape = document.createElement('span');
    escape.className = 'unseen';
    escape.textContent = `U+${code}`;
    nodes.push(escape);
    from = at + 1;
  }
  // Thousands of them would make the page slow: the rest has no elements of its own.
  if (from < text.length) nodes.push(document.createTextNode(plain(text.slice(from))));
  return nodes;
}

/** The beginning of a text that should be short, but need not be. */
function clip(text, most = 300) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** A name; a line may end after its separators only, never inside a word. What has no room ends in an ellipsis. */
function nameText(text, most = 300) {
  const name = clip(text, most);
  return el('span', { class: 'name-text', title: plain(name) }, name.split(/(?<=[/@_-]|::)/).map((part, at) => [at > 0 && el('wbr'), part]));
}

/** The same escapes in a plain text, for titles and labels. */
function plain(text) {
  if (!UNSEEN.test(text)) return String(text);
  let shown = '';
  for (const character of String(text)) {
    shown += UNSEEN.test(character) ? `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}›` : character;
  }
  return shown;
}

function button(label, onClick, attributes) {
  return el('button', { type: 'button', ...attributes, on: { click: onClick } }, label);
}

/** A key of the keyboard. */
function key(text) {
  return el('kbd', {}, text);
}

function announce(text) {
  document.getElementById('announcements').textContent = text;
}
