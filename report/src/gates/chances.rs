//! How often an agent meets a gate on its pass rate by chance.

use std::fmt;

use evalsuite_records::statistics::binomial_at_least;
use evalsuite_schema::gate::{Gate, Measure};
use serde::Serialize;

use super::measure::rate_value;

/// How far the rates of the two agents are from the limit.
const DISTANCE: f64 = 0.02;

/// How often a gate on a rate is wrong: an agent passes each case with a probability near the limit, and the number of passed cases is
/// binomial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateChances {
    /// Pass rate of an agent below the limit, 0 to 1.
    pub below: f64,
    /// Share of its runs that meet the gate, 0 to 1.
    pub met: f64,
    /// Pass rate of an agent above the limit, 0 to 1.
    pub above: f64,
    /// Share of its runs that miss the gate, 0 to 1.
    pub missed: f64,
    /// The smallest number of cases with which the gate can be met, if this is more than there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_cases: Option<usize>,
}

impl GateChances {
    /// The chances of a gate on the rate of this many cases; `None` if it measures something else, or every rate or none is within the limit.
    pub(super) fn of(gate: &Gate, cases: usize, floor: f64) -> Option<Self> {
        let limit = gate.limit() + if gate.is_above_floor() { floor } else { 0.0 };
        if !matches!(gate.measure(), Measure::PassRate | Measure::LowerPassRate)
            || cases == 0
            || !(0.0..1.0).contains(&limit)
            || limit == 0.0
        {
            return None;
        }
        let is_met = |passed: usize, cases: usize| {
            rate_value(gate.measure(), passed, cases).is_some_and(|value| gate.holds(value, floor))
        };
        let least = (0..=cases).find(|passed| is_met(*passed, cases));
        let distance = DISTANCE.min(limit / 2.0).min((1.0 - limit) / 2.0);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let met = |rate: f64| least.map_or(0.0, |least| binomial_at_least(number(least), number(cases), rate));
        let needed = || (cases..=MOST_CASES).find(|cases| is_met(*cases, *cases));
        Some(Self {
            below: limit - distance,
            met: met(limit - distance),
            above: limit + distance,
            missed: 1.0 - met(limit + distance),
            needed_cases: if least.is_none() { needed() } else { None },
        })
    }
}

/// Most cases of which it is said that a gate needs them.
const MOST_CASES: usize = 100_000;

/// `at 0.88, 44% of runs meet it; at 0.92, 21% miss it`.
impl fmt::Display for GateChances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |rate: f64| format!("{rate:.3}").trim_end_matches('0').to_owned();
        let percent = |share: f64| match share * 100.0 {
            share if share < 1.0 => "<1%".to_owned(),
            share if share > 99.0 => ">99%".to_owned(),
            share => format!("{share:.0}%"),
        };
        let (met, missed) = (percent(self.met), percent(self.missed));
        write!(f, "at {}, {met} of runs meet it; at {}, {missed} miss it", rate(self.below), rate(self.above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gate: &str, cases: usize) -> Option<GateChances> {
        GateChances::of(&gate.parse().unwrap(), cases, 0.0)
    }

    #[test]
    fn chances_are_those_of_the_binomial_distribution() {
        // 45 of 50: 0.88 passes as many in 43.5 % of runs.
        let text = of("pass_rate >= 90%", 50).unwrap().to_string();
        assert_eq!(text, "at 0.88, 44% of runs meet it; at 0.92, 21% miss it");
        let bounded = of("lower(pass_rate) >= 90%", 50).unwrap();
        assert!(bounded.met < 0.01 && bounded.missed > 0.9, "{bounded}");
    }

    #[test]
    fn what_is_always_met_or_measures_something_else_has_no_chances() {
        for gate in ["pass_rate >= 0", "score >= 0.9", "cost <= 2"] {
            assert_eq!(of(gate, 50), None, "{gate}");
        }
        assert_eq!(of("pass_rate >= 0.9", 0), None);
        let near = of("pass_rate >= 99%", 10).unwrap();
        assert!((near.below - 0.985).abs() < 1e-12 && (near.above - 0.995).abs() < 1e-12, "{near:?}");
    }

    #[test]
    fn a_gate_that_no_result_meets_says_how_many_cases_it_needs() {
        let few = of("lower(pass_rate) >= 90%", 20).unwrap();
        assert_eq!(few.needed_cases, Some(35));
        assert_eq!(of("lower(pass_rate) >= 90%", 35).unwrap().needed_cases, None);
    }
}
