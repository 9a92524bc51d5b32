//! How many trials may repeat cases that fail and passed in their baseline, in a whole run of a suite.

use serde::{Deserialize, Serialize};

/// Most trials that repeat a case, if no setting says otherwise. One failure after one pass and ten more failures are as unlikely as 0.03
/// by chance, whatever the rate of passing.
pub const DEFAULT_CONFIRMING: u32 = 10;
/// The share of a suite's planned trials that may be spent on cases that pass when they are repeated.
const SHARE: u32 = 10;
/// After so many cases whose failures were confirmed, the suite has changed, and no further case is repeated.
const ENOUGH_CONFIRMED: u32 = 3;

/// What repeating cases has shown so far in a run of a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// In a suite that has not changed, a tenth of its trials is added at most, or `most` trials if that is more.
    pub fn allowed(self, most: u32, planned: u32) -> u32 {
        let has_room = self.refuted_trials < most.max(planned / SHARE);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_trials_repeats_cases_that_have_not_changed() {
        let mut repeated = RepeatedCases::default();
        assert_eq!(repeated.allowed(10, 300), 10);
        repeated.add(29, false);
        assert_eq!((repeated.allowed(10, 300), repeated.allowed(10, 100)), (10, 0));
        repeated.add(1, false);
        assert_eq!(repeated.allowed(10, 300), 0, "30 of 300");
        assert_eq!(RepeatedCases::default().allowed(0, 300), 0);
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
