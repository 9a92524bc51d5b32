// Cases by runs, or by trials: one cell each, drawn on a canvas so that thousands of cases fit.

const CELL = 16, GAP = 2, LABELS = 230, LAST_LABEL = 60;

class GridView {
  constructor(report, order) {
    this.report = report;
    this.order = order;
    this.element = el('section', { class: 'grid-view' });
    this.repaint = () => this.paint();
    addEventListener('themechange', this.repaint);
    this.resized = () => this.element.isConnected && this.draw();
    addEventListener('resize', this.resized);
  }

  remove() {
    removeEventListener('themechange', this.repaint);
    removeEventListener('resize', this.resized);
  }

  draw() {
    const { report } = this;
    const byTrial = route.measure === 'trials' || report.past.length === 0;
    this.cases = this.order();
    const trials = Math.max(1, ...this.cases.map((it) => it.trials.length));
    this.columns = byTrial
      ? Array.from({ length: trials }, (_, at) => ({ label: `Trial ${at + 1}`, of: (it) => trialCell(it.trials[at]) }))
      : [...report.past.map((past) => ({ label: past.label, of: (it) => pastCell(it, past) })), { label: 'This run', of: (it) => ({ code: it.shown, share: rateOf(it.passed, it.completed), text: `${OUTCOMES[it.shown].label}, ${it.passed} of ${it.completed}, score ${score(it.score)}` }) }];
    // Without room for all columns, those of the oldest runs are out of sight, not the newest.
    this.room = this.element.clientWidth || 1300;
    this.labels = Math.min(LABELS, Math.floor(this.room * 0.4));
    this.newestFirst = !byTrial && this.labels + this.columns.length * (CELL + GAP) * 2 + LAST_LABEL > this.room;
    if (this.newestFirst) this.columns.reverse();
    this.canvas = el('canvas', { tabindex: 0, role: 'img', 'aria-label': `Outcomes of ${plural(this.cases.length, 'case')} in ${plural(this.columns.length, byTrial ? 'trial' : 'run')}. The table of cases has the same data.`,
      on: { mousemove: (event) => this.hover(event), mouseleave: () => this.point(null), click: (event) => this.pick(event), keydown: (event) => this.keyed(event), focus: () => this.point(this.at || [0, 0]) } });
    this.readout = el('p', { class: 'readout', 'aria-live': 'polite' });
    const options = [['rate', 'Runs'], ['trials', 'Trials of this run']];
    replace(this.element,
      el('div', { class: 'view-head' }, el('h1', {}, byTrial ? 'Cases by trial' : 'Cases by run'),
        report.past.length > 0 && pick('Columns', options, byTrial ? 'trials' : 'rate', (measure) => go({ measure }, { replace: true })),
        route.q && el('span', { class: 'muted' }, 'Filter ', el('code', {}, route.q))),
      el('div', { class: 'grid-legend' }, ['p', '~', 'f', 'e', 's', '-'].map((code) => el('span', {}, sign(code, { label: false, size: 14 }), OUTCOMES[code].label.toLowerCase())), el('span', { class: 'muted' }, `The fuller a cell, the more trials passed.${this.newestFirst ? ' The newest run comes first.' : ''}`)),
      this.readout,
      this.cases.length ? el('div', { class: 'scroll canvas-box' }, this.canvas) : el('div', { class: 'empty' }, el('h2', {}, 'No case matches')));
    this.paint();
  }

  paint() {
    if (!this.canvas || !this.cases.length) return;
    const scale = devicePixelRatio || 1;
    // Browsers refuse canvases that are too high; cells get lower then.
    const row = Math.max(2, Math.min(CELL + GAP, Math.floor(16_000 / scale / this.cases.length)));
    this.row = row;
    this.head = 86;
    this.left = row >= 12 ? this.labels : 12;
    const wide = Math.max((CELL + GAP) * (this.newestFirst ? 2 : 1), Math.min(110, Math.floor((Math.min(this.room, 1270) - this.left - LAST_LABEL) / this.columns.length)));
    this.wide = wide;
    const width = this.left + this.columns.length * wide + LAST_LABEL, height = this.head + this.cases.length * row + 8;
    Object.assign(this.canvas, { width: width * scale, height: height * scale });
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const paper = this.canvas.getContext('2d');
    paper.scale(scale, scale);
    paper.font = `12px ${style.getPropertyValue('--sans') || 'sans-serif'}`;
    paper.fillStyle = colour('muted');
    this.columns.forEach((column, at) => {
      paper.save();
      paper.translate(this.left + at * wide + wide / 2, this.head - 8);
      paper.rotate(-Math.PI / 5);
      paper.fillText(column.label, 0, 0);
      paper.restore();
    });
    this.cases.forEach((it, line) => {
      const y = this.head + line * row;
      if (row >= 12) {
        paper.fillStyle = colour('ink');
        paper.fillText(fitted(paper, plain(clip(it.id)), this.left - 10), 0, y + 12);
      }
      this.columns.forEach((column, at) => cellMark(paper, column.of(it), this.left + at * wide, y, wide - GAP, Math.max(1, row - GAP), colour));
    });
    if (this.at) {
      const [column, line] = this.at;
      paper.strokeStyle = colour('ink');
      paper.lineWidth = 2;
      paper.strokeRect(this.left + column * wide - 1, this.head + line * row - 1, wide, row);
    }
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left) / this.wide), line = Math.floor((event.clientY - box.top - this.head) / this.row);
    return line >= 0 && line < this.cases.length && column < this.columns.length ? [Math.max(0, column), line] : null;
  }

  hover(event) {
    this.point(this.cellAt(event));
  }

  point(at) {
    this.at = at;
    if (at) {
      const it = this.cases[at[1]], column = this.columns[at[0]];
      replace(this.readout, el('strong', {}, nameText(it.id)), ` · ${column.label} · ${column.of(it).text}`);
    } else replace(this.readout, 'Point at a cell, or move with the arrow keys. Enter opens the case.');
    this.paint();
  }

  pick(event) {
    const at = this.cellAt(event);
    if (at) go({ view: 'case', case: this.cases[at[1]].key, trial: '' });
  }

  keyed(event) {
    const [column, line] = this.at || [0, 0];
    const next = { ArrowLeft: [column - 1, line], ArrowRight: [column + 1, line], ArrowUp: [column, line - 1], ArrowDown: [column, line + 1] }[event.key];
    if (next) {
      event.preventDefault();
      this.point([Math.max(0, Math.min(next[0], this.columns.length - 1)), Math.max(0, Math.min(next[1], this.cases.length - 1))]);
    } else if (event.key === 'Enter') go({ view: 'case', case: this.cases[line].key, trial: '' });
  }
}

/** The beginning of a label that has this much room. */
function fitted(paper, text, room) {
  if (paper.measureText(text).width <= room) return text;
  let most = Math.min(text.length, 60);
  while (most > 1 && paper.measureText(`${text.slice(0, most)}…`).width > room) most--;
  return `${text.slice(0, most)}…`;
}

function rateOf(passed, completed) {
  return completed ? passed / completed : null;
}

function trialCell(trial) {
  if (!trial) return { code: '-', share: null, text: 'no such trial' };
  return { code: trial.outcome, share: trial.outcome === 'p' ? 1 : 0, text: `${OUTCOMES[trial.outcome].label}, score ${score(trial.score)}, ${duration(trial.ms)}` };
}

function pastCell(it, past) {
  const code = past.outcomes[it.i];
  if (code === '-') return { code, share: null, text: 'not run' };
  const passed = past.passed[it.i], completed = past.completed[it.i];
  const flaky = passed > 0 && passed < completed;
  const other = past.definitions[it.i] === '=' ? '' : ', another definition';
  return { code: flaky && code === 'p' ? '~' : code, share: rateOf(passed, completed), faint: other !== '', text: `${OUTCOMES[code].label}, ${passed} of ${completed}, score ${score(past.scores[it.i])}${other}` };
}

/** A cell: the colour of its outcome, filled as far as trials passed; failures and errors are crossed. */
function cellMark(paper, cell, x, y, width, height, colour) {
  const name = OUTCOMES[cell.code].name;
  paper.globalAlpha = cell.faint ? 0.45 : 1;
  if (cell.code === '-' || cell.code === 's') {
    paper.strokeStyle = colour('line');
    paper.lineWidth = 1;
    paper.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  } else {
    paper.fillStyle = colour(`${name}-soft`);
    paper.fillRect(x, y, width, height);
    paper.fillStyle = colour(name);
    const full = cell.code === 'p' || cell.code === '~' ? width * (cell.share ?? 1) : width;
    if (cell.code === 'f' || cell.code === 'e') {
      paper.fillRect(x, y, width, height);
      if (height > 8) {
        paper.strokeStyle = colour('paper');
        paper.lineWidth = 1.5;
        paper.beginPath();
        const middle = x + width / 2, half = 3.5, centre = y + height / 2;
        if (cell.code === 'f') {
          paper.moveTo(middle - half, centre - half); paper.lineTo(middle + half, centre + half);
          paper.moveTo(middle + half, centre - half); paper.lineTo(middle - half, centre + half);
        } else {
          paper.moveTo(middle, centre - half); paper.lineTo(middle, centre + 1);
          paper.moveTo(middle, centre + half - 1); paper.lineTo(middle, centre + half);
        }
        paper.stroke();
      }
    } else {
      // What passed stays in the background.
      paper.globalAlpha *= cell.code === 'p' ? 0.5 : 0.8;
      paper.fillRect(x, y, full, height);
    }
  }
  paper.globalAlpha = 1;
}
