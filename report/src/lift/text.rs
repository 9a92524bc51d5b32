//! A lift as people read it on a terminal.

use std::fmt;

use evalsuite_records::summary::TextTable;
use evalsuite_schema::diagnostics::{counted, terminal};
use evalsuite_statistics::shown_p;

use super::{ArmTotals, Lift, LiftedMeasure, RunLifts, SettledExpectation};
use crate::comparison::FEWEST_PAIRS;

/// Largest number of expectations in a list.
const LISTED: usize = 10;

impl fmt::Display for RunLifts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lifts.iter().try_for_each(|lift| write!(f, "{lift}"))
    }
}

impl fmt::Display for Lift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, reference, pairs, .. } = self;
        write!(f, "{suite}: lift of the skill, compared with {reference}: {} in both", counted(*pairs, "case"))?;
        if self.missing > 0 {
            write!(f, ", {} without a result", self.missing)?;
        }
        writeln!(f)?;
        if *pairs == 0 {
            return Ok(());
        }
        let mut table = TextTable::new(&["mean", reference, "with_skill", "difference", "95 % interval", "p"]);
        table.add(measured("pass rate", &self.pass_rate));
        table.add(measured("score", &self.score));
        let used = [
            used("tokens", &self.arms, 0, |arm| arm.tokens),
            used("USD", &self.arms, 4, |arm| arm.cost_usd),
            used("seconds", &self.arms, 2, |arm| arm.seconds),
        ];
        used.into_iter().flatten().for_each(|row| table.add(row));
        table.write(TextTable::USUAL_WIDTH, f)?;
        if *pairs < FEWEST_PAIRS {
            writeln!(f, "  too few cases to say anything: {FEWEST_PAIRS} are needed")?;
        }
        if self.pass_rate.lower_with_errors.is_some() {
            writeln!(f, "  trials ended in an error; the intervals are those of the others")?;
        }
        list(f, "in every trial of both arms, which says nothing about the skill", &self.always_passed)?;
        list(f, "in no trial of either arm", &self.never_passed)
    }
}

fn measured(name: &str, measure: &LiftedMeasure) -> Vec<Option<String>> {
    let share = |value: Option<f64>| value.map(|value| format!("{value:.2}"));
    vec![
        Some(name.to_owned()),
        share(measure.reference),
        share(measure.with_skill),
        Some(format!("{:+.2}", measure.difference)),
        measure.interval.map(|(lower, upper)| format!("{lower:+.2} to {upper:+.2}")),
        Some(shown_p(measure.p_value)),
    ]
}

/// What one trial used, if trials of one arm reported it.
fn used(
    name: &str,
    arms: &[ArmTotals; 2],
    places: usize,
    of: fn(&ArmTotals) -> Option<f64>,
) -> Option<Vec<Option<String>>> {
    let [reference, with_skill] = arms.each_ref().map(of);
    reference.or(with_skill)?;
    let difference = reference.zip(with_skill).map(|(reference, with_skill)| with_skill - reference);
    let shown = |value: Option<f64>| value.map(|value| format!("{value:.places$}"));
    let difference = difference.map(|value| format!("{value:+.places$}"));
    Some(vec![Some(name.to_owned()), shown(reference), shown(with_skill), difference, None, None])
}

fn list(f: &mut fmt::Formatter<'_>, holds: &str, expectations: &[SettledExpectation]) -> fmt::Result {
    if expectations.is_empty() {
        return Ok(());
    }
    let (count, verb) = (expectations.len(), if expectations.len() == 1 { "holds" } else { "hold" });
    writeln!(f, "  {} {verb} {holds}", counted(count, "expectation"))?;
    for SettledExpectation { case_id, grader, text } in expectations.iter().take(LISTED) {
        let what = text.as_deref().unwrap_or(grader);
        writeln!(f, "    {}", terminal::short_line(&format!("{case_id}: {what}")))?;
    }
    if count > LISTED {
        writeln!(f, "    and {} more", count - LISTED)?;
    }
    Ok(())
}
