// Texts in quotes are looked up in the JSON of details as it was written: parsing all of it would take seconds.

/** Number of chunks that are inflated at a time. */
const AHEAD = 12;

/** The cases whose details contain all texts, found chunk by chunk; `progress` gets the share that is done. */
async function searchDetails(report, cases, texts, progress, isStale) {
  const byChunk = new Map(), found = new Set();
  const wanted = texts.map(({ text, negated }) => ({ text, negated, pattern: patternOf(text) }));
  for (const it of cases) {
    if (!it.detailsAt) {
      if (wanted.every(({ text, negated }) => it.text.includes(text) !== negated)) found.add(it);
      continue;
    }
    if (!byChunk.has(it.detailsAt[0])) byChunk.set(it.detailsAt[0], []);
    byChunk.get(it.detailsAt[0]).push(it);
  }
  const numbers = [...byChunk.keys()], coming = new Map();
  let pause = performance.now();
  for (let at = 0; at < numbers.length; at++) {
    for (const number of numbers.slice(at, at + AHEAD)) {
      if (coming.has(number)) continue;
      const lines = report.lines(number);
      // Awaited below, unless the search ends before.
      lines.catch(() => {});
      coming.set(number, lines);
    }
    const lines = await coming.get(numbers[at]);
    coming.set(numbers[at], null);
    for (const it of byChunk.get(numbers[at])) {
      const line = lines[it.detailsAt[1]];
      if (wanted.every(({ text, negated, pattern }) => (it.text.includes(text) || hasText(line, pattern, text)) !== negated)) found.add(it);
    }
    if (performance.now() - pause > 40) {
      progress((at + 1) / numbers.length);
      await new Promise((resolve) => setTimeout(resolve));
      pause = performance.now();
    }
    if (isStale()) return null;
  }
  return found;
}

/** Finds a text, in capitals or not, as JSON writes it. */
function patternOf(text) {
  return new RegExp(JSON.stringify(text).slice(1, -1).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'gi');
}

/** Whether a text is in a value of an entry; names of members are no values. */
function hasText(line, pattern, text) {
  pattern.lastIndex = 0;
  for (let hit = pattern.exec(line); hit; hit = pattern.exec(line)) {
    const at = hit.index, end = at + hit[0].length;
    pattern.lastIndex = at + 1;
    if (isEscaped(line, at)) continue;
    let open = at - 1, close = end;
    while (open >= 0 && (line[open] !== '"' || isEscaped(line, open))) open = line.lastIndexOf('"', open - 1);
    while (close >= 0 && (line[close] !== '"' || isEscaped(line, close))) close = line.indexOf('"', close + 1);
    const between = line.slice(open + 1, close < 0 ? line.length : close);
    // Between two quotes is a text, or what is between two texts.
    const unclear = open < 0 || close < 0 || /^[\s,:{}[\]0-9.eE+\-truefalsn]*$/.test(between) || line.slice(at - 6, at).includes('\\u');
    if (unclear) return textsIn(JSON.parse(line)).join('\n').toLowerCase().includes(text);
    if (line[close + 1] !== ':') return true;
  }
  return false;
}

/** Whether the character belongs to an escape that a backslash before it begins. */
function isEscaped(line, at) {
  let before = at;
  while (line[before - 1] === '\\') before--;
  return (at - before) % 2 === 1;
}

/** All texts in a value, without its keys. */
function textsIn(value, texts = []) {
  if (typeof value === 'string') texts.push(value);
  else if (value && typeof value === 'object') for (const member of Object.values(value)) textsIn(member, texts);
  return texts;
}
