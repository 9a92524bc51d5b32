// Unified diffs, and what is different between two answers.

/** A unified diff, one part per file. */
function patchView(patch) {
  const files = [];
  let file = null;
  for (const line of patch.text.split('\n')) {
    if (line.startsWith('--- ') && !(file && file.open)) {
      file = { from: line.slice(4), name: line.slice(4), lines: [], added: 0, removed: 0, open: true };
      files.push(file);
    } else if (file && file.open && line.startsWith('+++ ')) {
      const name = line.slice(4);
      file.name = (name === '/dev/null' ? file.from : name).replace(/^[ab]\//, '');
      file.state = file.from === '/dev/null' ? 'created' : name === '/dev/null' ? 'deleted' : 'changed';
      file.open = false;
    } else {
      if (!file) files.push(file = { name: '', lines: [], added: 0, removed: 0 });
      if (line.startsWith('+')) file.added++;
      else if (line.startsWith('-')) file.removed++;
      file.lines.push(line);
    }
  }
  return files.filter((it) => it.name || it.lines.some(Boolean)).map((it, at) => fold(
    [el('code', {}, it.name || 'diff'), it.state && it.state !== 'changed' && el('span', { class: 'chip' }, it.state), el('span', { class: 'added' }, `+${it.added}`), el('span', { class: 'removed' }, `−${it.removed}`)],
    () => patchLines(it.lines), { open: at < 4 && it.lines.length < 400, className: 'file' }))
    .concat(patch.omitted ? [el('p', { class: 'note' }, `${bytes(patch.omitted)} more are in the file.`)] : []);
}

function patchLines(lines, most = 400) {
  const body = el('div', { class: 'diff', role: 'region', 'aria-label': 'Changes', tabindex: 0 });
  let old = 0, now = 0;
  lines.forEach((line, at) => {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) [old, now] = [Number(hunk[1]), Number(hunk[2])];
    if (at >= most) return;
    if (line === '' && at === lines.length - 1) return;
    const kind = hunk ? 'hunk' : line.startsWith('+') ? 'add' : line.startsWith('-') ? 'remove' : 'same';
    const numbers = hunk || !now ? ['', ''] : kind === 'add' ? ['', now++] : kind === 'remove' ? [old++, ''] : [old++, now++];
    body.append(el('div', { class: `line ${kind}` }, el('span', { class: 'n' }, numbers[0]), el('span', { class: 'n' }, numbers[1]),
      el('span', { class: 'code' }, foldedLine(line))));
  });
  if (lines.length <= most) return body;
  const more = button(`Show all ${count(lines.length)} lines`, () => replace(body.parentElement, patchLines(lines, Infinity)), { class: 'more' });
  return [body, more];
}

/** The lines of `text`, those that `other` does not have marked. Long texts are compared without order. */
function markedLines(text, other) {
  const lines = text.split('\n'), base = other.split('\n');
  const same = lines.length * base.length > 250_000 ? new Set(lines.flatMap((line, at) => (base.includes(line) ? [at] : []))) : commonLines(lines, base);
  return lines.map((line, at) => el('div', { class: same.has(at) ? 'line' : 'line differs' }, line ? foldedLine(line) : ' '));
}

/** Indices of the lines of a longest common subsequence. */
function commonLines(lines, base) {
  const width = base.length + 1;
  const lengths = new Uint32Array((lines.length + 1) * width);
  for (let i = lines.length - 1; i >= 0; i--) {
    for (let j = base.length - 1; j >= 0; j--) {
      lengths[i * width + j] = lines[i] === base[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const same = new Set();
  for (let i = 0, j = 0; i < lines.length && j < base.length;) {
    if (lines[i] === base[j]) { same.add(i); i++; j++; }
    else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++;
    else j++;
  }
  return same;
}
