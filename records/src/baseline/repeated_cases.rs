//! Which trials repeat cases that differ from their baseline, and how many in a whole run of a suite.

use evalsuite_schema::json::{FromJson, ToJson};

use super::{Counts, UnchangedSuite, has_risen};
use crate::record::Status;

/// So many trials may be spent on cases that pass when they are repeated, however small the suite is.
const FEWEST: u32 = 10;
/// The share of a suite's planned trials that may be spent on cases that pass when they are repeated.
const SHARE: u32 = 10;
/// After so many cases whose failures were confirmed, the suite has changed, and no further case is repeated.
const ENOUGH_CONFIRMED: u32 = 3;

/// What repeating cases has shown so far in a run of a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(fill)]
#[non_exhaustive]
pub struct RepeatedCases {
    /// Trials of cases whose failure was not confirmed.
    refuted_trials: u32,
    /// Cases of which all trials failed that repeated them.
    confirmed_cases: u32,
}

impl RepeatedCases {
    /// How many trials may repeat another case of a suite: `most`, or 0. `planned`: number of trials planned in the suite.
    ///
    /// In a suite that has not changed, a tenth of its trials is added, or ten trials if that is more, and those of the last case.
    pub fn allowed(self, most: u32, planned: u32) -> u32 {
        let has_room = self.refuted_trials < FEWEST.max(planned / SHARE);
        if has_room && self.confirmed_cases < ENOUGH_CONFIRMED { most } else { 0 }
    }

    /// Adds a case that was repeated.
    pub fn add(&mut self, trials: u32, is_confirmed: bool) {
        if is_confirmed {
            self.confirmed_cases += 1;
        } else {
            self.refuted_trials += trials;
        }
    }
}

/// How a case is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repetition {
    /// The outcome with which the trials end.
    pub until: Status,
    /// How many there are at most, at least 1.
    pub trials: u32,
}

impl Repetition {
    /// How a case with these trials in the baseline is repeated, so that its trials tell whether it has changed; `None` if they tell already,
    /// or cannot. `outcome`: of the case; `ran`: its trials, none of which ended in an error; `suite`: the suite in the baseline, if it can
    /// be read; `most`: how many trials may repeat it.
    pub fn of(
        outcome: Status,
        ran: Counts,
        accepted: Counts,
        suite: impl FnOnce() -> Option<UnchangedSuite>,
        most: u32,
    ) -> Option<Self> {
        let (until, enough) = match (outcome, ran) {
            // No trial passed, and some did in the baseline.
            (Status::Failed, (0, failed)) if accepted.0 > 0 => {
                let needed = suite()?.failures_needed(accepted, failed, failed.saturating_add(most))?;
                (Status::Passed, needed.checked_sub(failed)?)
            }
            // It has never passed in the baseline, and all trials did: as many as there, or as many as tell.
            (Status::Passed, (passed, trials)) if passed == trials && accepted.0 == 0 => {
                let tells = |trials: &u32| has_risen(accepted, (*trials, *trials));
                let enough = (passed..accepted.1).find(tells).unwrap_or(accepted.1);
                (Status::Failed, enough.checked_sub(passed)?.min(most))
            }
            _ => return None,
        };
        (enough > 0).then_some(Self { until, trials: enough })
    }

    /// Whether it takes of what a run may spend: only cases do whose tests may fail. Of others, each is repeated once in its life.
    pub fn takes_room(self) -> bool {
        self.until == Status::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_trials_repeats_cases_that_have_not_changed() {
        let mut repeated = RepeatedCases::default();
        assert_eq!(repeated.allowed(10, 300), 10);
        repeated.add(29, false);
        assert_eq!((repeated.allowed(30, 300), repeated.allowed(30, 100)), (30, 0));
        repeated.add(1, false);
        assert_eq!(repeated.allowed(10, 300), 0, "30 of 300");
        assert_eq!(RepeatedCases::default().allowed(0, 300), 0);
    }

    #[test]
    fn a_case_is_repeated_until_its_trials_tell() {
        let mut line = crate::record::BaselineCase::default();
        (line.passed, line.trials) = (1, 1);
        let suite = || Some(UnchangedSuite::new(&vec![line.clone(); 30]));
        let of = |outcome, ran, accepted, most| {
            Repetition::of(outcome, ran, accepted, suite, most).map(|found| (found.until, found.trials))
        };
        use Status::{Failed, Passed};
        assert_eq!(of(Failed, (0, 1), (1, 1), 30), Some((Passed, 6)));
        assert_eq!(of(Failed, (0, 1), (1, 1), 5), None, "five cannot tell");
        assert_eq!(of(Failed, (0, 7), (1, 1), 30), None, "seven have told");
        assert_eq!(of(Failed, (0, 1), (0, 3), 30), None, "as before");
        assert_eq!(of(Failed, (1, 3), (3, 3), 30), None, "some passed");
        assert_eq!(of(Passed, (1, 1), (0, 3), 30), Some((Failed, 2)));
        assert_eq!(of(Passed, (1, 1), (0, 40), 30), Some((Failed, 2)), "three passes tell, and one does not");
        assert_eq!(of(Passed, (1, 1), (0, 1), 30), None, "as many as before");
        assert_eq!(of(Passed, (1, 1), (3, 5), 30), None);
    }

    #[test]
    fn no_case_is_repeated_in_a_suite_that_has_changed() {
        let mut repeated = RepeatedCases::default();
        repeated.add(10, true);
        repeated.add(10, true);
        assert_eq!(repeated.allowed(10, 20), 10, "confirmed failures take nothing of the tenth");
        repeated.add(10, true);
        assert_eq!(repeated.allowed(10, 20), 0);
    }
}
