// Small plots in SVG. Every plot has a text that says the same.

function sparkline(values) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const width = 120, height = 34;
  const x = (at) => 3 + at / (values.length - 1) * (width - 8);
  // From 0 to 1: a tenth looks like a tenth.
  const y = (value) => height - 5 - value * (height - 10);
  const points = values.map((value, at) => (value === null ? null : [x(at), y(value)])).filter(Boolean);
  const last = points[points.length - 1];
  return svg('svg', { class: 'sparkline', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `Pass rate of the last ${known.length} runs: ${known.map((value) => percent(value, 0)).join(', ')}` },
    svg('polyline', { points: points.map((point) => point.join(',')).join(' ') }), svg('circle', { cx: last[0], cy: last[1], r: 3 }));
}

/** A line over runs, with an interval where it is known. */
function linePlot({ title, series, labels, show, from = null, to = null, hrefs = [] }) {
  const width = 520, height = 200, left = 52, right = 16, top = 14, bottom = 30;
  const all = series.flatMap((line) => [...line.values, ...(line.intervals || []).flat()]).filter((value) => value !== null && value !== undefined);
  if (!all.length) return null;
  let low = from ?? Math.min(...all), high = to ?? Math.max(...all);
  if (high - low < 1e-9) [low, high] = [low - Math.abs(low || 1) * 0.1, high + Math.abs(high || 1) * 0.1];
  const x = (at) => (labels.length === 1 ? (left + width - right) / 2 : left + at / (labels.length - 1) * (width - left - right));
  const y = (value) => height - bottom - (value - low) / (high - low) * (height - top - bottom);
  const ticks = [0, 0.5, 1].map((share) => low + share * (high - low));
  const every = Math.ceil(labels.length / 6);
  const plot = svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': plain(`${title}: ${series.map((line) => `${line.name || ''} ${line.values.map((value) => (value === null ? 'none' : show(value))).join(', ')}`).join('; ')}`) },
    ticks.map((tick) => [svg('line', { class: 'grid', x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), svg('text', { class: 'tick', x: left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, show(tick))]),
    labels.map((label, at) => (labels.length - 1 - at) % every === 0 && svg('text', { class: 'tick', x: x(at), y: height - 8, 'text-anchor': at === labels.length - 1 && labels.length > 1 ? 'end' : 'middle' }, label)),
    series.map((line, number) => {
      const known = line.values.map((value, at) => [at, value]).filter(([, value]) => value !== null && value !== undefined);
      const band = (line.intervals || []).map((interval, at) => (interval ? [at, interval] : null)).filter(Boolean);
      return svg('g', { class: `series s${number % 4}` },
        band.length > 1 && svg('path', { class: 'band', d: `M${band.map(([at, [, upper]]) => `${x(at)} ${y(upper)}`).join('L')}L${[...band].reverse().map(([at, [lower]]) => `${x(at)} ${y(lower)}`).join('L')}Z` }),
        svg('polyline', { points: known.map(([at, value]) => `${x(at)},${y(value)}`).join(' ') }),
        known.map(([at, value]) => svg('g', { class: at === labels.length - 1 ? 'point last' : 'point' }, svg('circle', { cx: x(at), cy: y(value), r: at === labels.length - 1 ? 4.5 : 3.2 }), svg('title', {}, plain(`${line.name ? `${line.name}, ` : ''}${labels[at]}: ${show(value)}`)))));
    }));
  return el('figure', { class: 'figure-plot' }, el('figcaption', {}, el('strong', {}, title), series.length > 1 && el('span', { class: 'series-names' }, series.map((line, number) => el('span', { class: `name s${number % 4}` }, line.name)))), plot);
}
