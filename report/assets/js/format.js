// Numbers, durations, costs and dates as people read them.

const NONE = '–';

function percent(share, digits = 1) {
  if (share === null || share === undefined) return NONE;
  const text = (share * 100).toFixed(digits);
  return `${digits ? text.replace(/\.0+$/, '') : text} %`;
}

function score(value) {
  if (value === null || value === undefined) return NONE;
  const text = value.toFixed(2);
  // 0.996 is not 1.
  return text === '1.00' && value < 1 ? '0.99' : text;
}

/** A number without a unit: at most four decimals, below 1 four digits that are not leading zeros. */
function measurement(value) {
  if (typeof value !== 'number') return String(value);
  return String(Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(4)));
}

function signed(value, show) {
  return `${value > 0 ? '+' : value < 0 ? '−' : '±'}${show(Math.abs(value))}`;
}

/** A p-value; none is 0. */
function shownP(p) {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

function duration(ms) {
  if (ms === null || ms === undefined) return NONE;
  if (ms > 0 && ms < 1) return '< 1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 7200) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function dollars(value) {
  if (value === null || value === undefined) return NONE;
  if (value === 0) return '$0';
  if (value < 0.01) return `$${value.toFixed(4)}`;
  return `$${value.toFixed(value < 1 ? 3 : 2)}`;
}

/** A sum, with the sign that it is a lower bound where some of its parts are not known. */
function lowerBound(text, unknown) {
  return unknown && text !== NONE ? `≥ ${text}` : text;
}

function costBound(value, unknown) {
  return lowerBound(dollars(value), unknown);
}

function count(value) {
  if (value === null || value === undefined) return NONE;
  if (value < 10_000) return String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)} k`;
  return `${(value / 1e6).toFixed(value < 1e8 ? 1 : 0)} M`;
}

function bytes(value) {
  if (value < 1000) return `${value} B`;
  return value < 1e6 ? `${(value / 1e3).toFixed(1)} kB` : `${(value / 1e6).toFixed(1)} MB`;
}

function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** Date and time in the reader's time zone. */
function moment(rfc3339, long = false) {
  const date = new Date(rfc3339);
  if (!rfc3339 || Number.isNaN(date.getTime())) return rfc3339 || NONE;
  const day = { day: 'numeric', month: 'short', ...(long && { year: 'numeric' }) };
  return date.toLocaleString('en-GB', { ...day, hour: '2-digit', minute: '2-digit' });
}

function place(file, line) {
  return line ? `${file}:${line}` : file;
}
