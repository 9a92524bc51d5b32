//! What a skill does, as a measure of gates.

use evalsuite_schema::REFERENCE_ARMS;
use evalsuite_schema::decimal::at_most;
use evalsuite_schema::gate::{Gate, Measure, WITH_SKILL};

use super::measure::Measured;
use crate::comparison::{FEWEST_PAIRS, MOST_MISSING};
use crate::lift::{LiftOf, lift_of};
use crate::run_data::CaseData;

/// `None` of other measures.
pub(super) fn measured(gate: &Gate, cases: &[&CaseData]) -> Option<Measured> {
    match gate.measure() {
        Measure::Lift => Some(lift(gate, cases, LiftOf::PassRate)),
        Measure::ScoreLift => Some(lift(gate, cases, LiftOf::Score)),
        _ => None,
    }
}

/// What counts is the lower end of the interval, and that is known only if no trial that ended in an error could lower it.
fn lift(gate: &Gate, cases: &[&CaseData], of: LiftOf) -> Measured {
    let has = |arm: &&str| cases.iter().any(|case| case.record.target == **arm);
    let reference = gate.compared_target().or(REFERENCE_ARMS.into_iter().find(|arm| has(arm)));
    let (Some(reference), true) = (reference, has(&WITH_SKILL)) else {
        let why = format!("no case ran as target `{WITH_SKILL}` and as `{}`", REFERENCE_ARMS.join("` or `"));
        return Measured::nothing(why, cases.len());
    };
    let lift = lift_of(cases, reference, of);
    let (pairs, missing) = (lift.pairs, lift.missing);
    let lower = lift.interval.map(|(lower, _)| lower);
    let holds = |lower: Option<f64>| lower.is_some_and(|lower| gate.holds(lower, 0.0));
    let why = if pairs < FEWEST_PAIRS {
        let cases = if pairs == 1 { "case has" } else { "cases have" };
        Some(format!("{pairs} {cases} a result as `{WITH_SKILL}` and as `{reference}`; {FEWEST_PAIRS} are needed"))
    } else if !at_most(missing as f64 / (pairs + missing) as f64, MOST_MISSING) {
        Some(format!("{missing} of {} cases have no result in one of the arms", pairs + missing))
    } else if holds(lower) && !holds(lift.sure_lower()) {
        Some("it depends on trials that ended in an error".to_owned())
    } else {
        None
    };
    // With so few results, a lift that is not shown is not missed either.
    let value = lower.filter(|_| why.is_none() || holds(lower));
    Measured {
        interval: lift.interval,
        difference: Some(lift.difference),
        why,
        ..Measured::new(value, missing, pairs + missing)
    }
}
