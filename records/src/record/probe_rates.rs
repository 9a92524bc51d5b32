//! The pass rates between which a suite says something.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Floor, ProbeRecord, Share};

/// The pass rates between which a suite says something, as `cargo evalsuite probe` has found them.
///
/// ```
/// use evalsuite_records::record::{ProbeRates, ProbeRecord};
///
/// assert_eq!(ProbeRates::of(&ProbeRecord::new()), None, "no case was probed");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProbeRates {
    /// The share of cases that the best of the empty probes passes; `None` if no probe was decided.
    pub floor: Option<Floor>,
    /// The share of references that pass; `None` without a reference that was decided.
    pub ceiling: Option<Share>,
}

impl ProbeRates {
    /// The rates of a probe; `None` if it decided nothing.
    pub fn of(record: &ProbeRecord) -> Option<Self> {
        let ProbeRecord { floor, ceiling, .. } = *record;
        (floor.is_some() || ceiling.is_some()).then_some(Self { floor, ceiling })
    }
}

/// ``floor 0.25 (`silent` passes 2 of 8 cases), ceiling 1.00 (8 of 8 references pass)``.
impl fmt::Display for ProbeRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Floor { probe, share }) = &self.floor {
            let (rate, probe) = (share.value(), probe.word());
            write!(f, "floor {rate:.2} (`{probe}` passes {} of {} cases)", share.count, share.decided)?;
        }
        if let Some(share) = &self.ceiling {
            let separator = if self.floor.is_some() { ", " } else { "" };
            let rate = share.value();
            write!(f, "{separator}ceiling {rate:.2} ({} of {} references pass)", share.count, share.decided)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::EmptyProbe;

    use super::*;
    use crate::record::{ProbeResult, ProbedCase, ResultKind};

    #[test]
    fn rates_are_shown_with_their_counts() {
        let mut record = ProbeRecord::new();
        for passes in [true, false] {
            let mut case = ProbedCase::default();
            for probe in [ResultKind::of(EmptyProbe::Echo), ResultKind::Reference] {
                let mut result = ProbeResult::default();
                (result.probe, result.passes) = (probe, Some(passes || probe == ResultKind::Reference));
                case.results.push(result);
            }
            record.cases.push(case);
        }
        record.sum_up();
        let rates = ProbeRates::of(&record).expect("results are decided");
        let text = "floor 0.50 (`echo` passes 1 of 2 cases), ceiling 1.00 (2 of 2 references pass)";
        assert_eq!(rates.to_string(), text);
        let only = ProbeRates { floor: None, ..rates };
        assert_eq!(only.to_string(), "ceiling 1.00 (2 of 2 references pass)");
    }
}
