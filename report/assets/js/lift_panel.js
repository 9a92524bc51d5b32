// What a skill does: its arms in a run compared, for each suite.

BreakdownView.sections.push(liftPanels);

function liftPanels(report) {
  return report.lifts.map((lift) => el('section', { class: 'panel lift' },
    el('h2', {}, 'Lift of the skill', el('span', { class: 'muted' }, ' ', nameText(lift.suite))),
    lift.pairs > 0 && el('div', { class: 'scroll', role: 'region', 'aria-label': `Lift in ${plain(clip(lift.suite))}`, tabindex: 0 }, liftTable(lift)),
    el('p', { class: 'note' }, `${plural(lift.pairs, 'case')} in both arms`, lift.missing > 0 && `, ${count(lift.missing)} without a result`, '.',
      lift.pairs > 0 && lift.pairs < report.fewestPairs && ` Too few cases to say anything: ${report.fewestPairs} are needed.`,
      typeof lift.pass_rate.lower_with_errors === 'number' && ' Trials ended in an error; the intervals are those of the others.'),
    settledList('In every trial of both arms, which says nothing about the skill', lift.always_passed),
    settledList('In no trial of either arm', lift.never_passed),
    wholeRunNote(report)));
}

function liftTable(lift) {
  const change = (value) => signed(value, (size) => size.toFixed(2));
  const measured = (label, measure) => [label, score(measure.reference), score(measure.with_skill), change(measure.difference),
    measure.interval ? measure.interval.map(change).join(' to ') : NONE, shownP(measure.p_value)];
  const used = (label, of, show) => {
    const [reference, withSkill] = lift.arms.map(of);
    if (reference === null && withSkill === null) return null;
    const difference = reference === null || withSkill === null ? NONE : signed(withSkill - reference, show);
    return [label, show(reference), show(withSkill), difference, NONE, NONE];
  };
  const rows = [measured('Pass rate', lift.pass_rate), measured('Score', lift.score), used(usedLabel(lift, 'Tokens', 'metered_trials'), (arm) => arm.tokens, (value) => count(value === null ? null : Math.round(value))),
    used(usedLabel(lift, 'Cost', 'costed_trials'), (arm) => arm.cost_usd, dollars), used('Time of a trial', (arm) => arm.seconds, (value) => duration(value === null ? null : value * 1000))].filter(Boolean);
  return el('table', { class: 'plain' },
    el('thead', {}, el('tr', {}, ['Mean', lift.reference, 'with_skill', 'Difference', '95 % interval', 'p'].map((label, at) => el('th', { scope: 'col', class: at > 0 && 'number' }, label)))),
    el('tbody', {}, rows.map(([label, ...values]) => el('tr', {}, el('th', { scope: 'row' }, label), values.map((value) => el('td', { class: 'number' }, value))))));
}

/** What was used in a trial, and of how many trials it is known. */
function usedLabel(lift, what, knownTrials) {
  const [known, all] = [knownTrials, 'trials'].map((name) => sum(lift.arms.map((arm) => arm[name])));
  return known < all ? `${what} of a trial (known of ${known} of ${all})` : `${what} of a trial`;
}

/** Expectations that come out the same whatever the skill does. */
function settledList(title, expectations) {
  if (!expectations.length) return null;
  return el('details', {}, el('summary', {}, `${title}: ${plural(expectations.length, 'expectation')}`),
    el('ul', {}, expectations.slice(0, 200).map((it) => el('li', {}, el('code', {}, clip(it.case_id)), ' ', clip(it.text ?? it.grader)))),
    expectations.length > 200 && el('p', { class: 'note' }, `and ${count(expectations.length - 200)} more`));
}
