// The few statistics that the page computes itself, over the rows it shows.

/** Wilson's 95 % interval of a rate (Wilson 1927). */
function wilson(passed, of) {
  if (!of) return null;
  const z = 1.959964, p = passed / of, z2 = z * z / of;
  const middle = (p + z2 / 2) / (1 + z2);
  const half = z / (1 + z2) * Math.sqrt(p * (1 - p) / of + z2 / (4 * of));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

function mean(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

function sum(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length ? known.reduce((total, value) => total + value, 0) : null;
}

/** The value that a share of the values do not exceed (nearest rank). */
function quantile(values, share) {
  const sorted = values.filter((value) => value !== null && value !== undefined).sort((a, b) => a - b);
  return sorted.length ? sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] : null;
}

/** The mean of totals of suites and targets, each of which counts as often as its `weight` says. */
function pooled(totals, name, weight) {
  const all = sum(totals.map((it) => it[weight]));
  return all ? sum(totals.map((it) => it[weight] && it[name] * it[weight])) / all : null;
}

/** Cases by outcome; skipped ones are not in `run`, and flaky ones have passed. */
function tally(cases) {
  const counts = { p: 0, f: 0, e: 0, s: 0, flaky: 0, all: cases.length, run: 0 };
  for (const it of cases) {
    counts[it.outcome]++;
    if (it.shown === '~') counts.flaky++;
  }
  counts.run = counts.p + counts.f + counts.e;
  counts.rate = counts.run ? counts.p / counts.run : null;
  return counts;
}
