//! Runs of the base that differ from each other by more than their trials do, as from day to day.
//!
//! Only those of the base say so: a rerun of the agent that comes out otherwise is no excuse for the run before it.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::statistics::t_quantile;
use evalsuite_statistics::{ExchangeTest, Unit, chi_square_at_least, mean, standardised_sum, student_at_most};

use super::compared::{Compared, RunScores};
use super::levels::ALIKE;

/// How far runs of the base are from each other, where that is more than chance explains.
pub(super) struct BetweenRuns {
    /// Probability that they differ as much if only their trials do.
    pub(super) p: f64,
    degrees: usize,
    /// Of each sum, the standard deviation of the difference of the means of base and run, if all runs differ as those of the base do.
    deviations: Vec<f64>,
}

impl BetweenRuns {
    /// Of these cases, in `sums` sums: all of them, then those of each slice. `None` if the base is one run, or its runs do not differ.
    pub(super) fn of(compared: &[Compared], sums: usize) -> Option<Self> {
        let base = Runs::new(compared, 0);
        let p = base.chance().filter(|p| *p <= ALIKE)?;
        let degrees = base.ids.len() - 1;
        let per_run = 1.0 / base.ids.len() as f64 + 1.0 / Runs::new(compared, 1).ids.len().max(1) as f64;
        let deviation = |sum: usize| (base.squares(sum) / degrees as f64 * per_run).sqrt();
        Some(Self { p, degrees, deviations: (0..sums).map(deviation).collect() })
    }

    /// The test of a sum with this mean difference, of so many cases, if each run counts as one.
    pub(super) fn test(&self, sum: usize, difference: f64, cases: usize, by_trial: ExchangeTest) -> ExchangeTest {
        let deviation = self.deviations[sum];
        let t = if deviation > 0.0 { difference / deviation } else { 0.0 };
        ExchangeTest {
            at_most: by_trial.at_most.max(student_at_most(t, self.degrees)),
            at_least: by_trial.at_least.max(student_at_most(-t, self.degrees)),
            deviation: by_trial.deviation.max(deviation * cases as f64),
        }
    }

    /// An interval of the mean difference of all cases that is not narrower than that of the runs.
    pub(super) fn widened(&self, (lower, upper): (f64, f64), difference: f64) -> (f64, f64) {
        let half = t_quantile(self.degrees as f64) * self.deviations[0];
        (lower.min(difference - half).max(-1.0), upper.max(difference + half).min(1.0))
    }
}

/// The runs of one agent that are counted together, and the scores of each case by run.
struct Runs<'a> {
    ids: BTreeSet<&'a str>,
    cases: Vec<(&'a [RunScores], &'a [usize])>,
}

impl<'a> Runs<'a> {
    fn new(compared: &'a [Compared], side: usize) -> Self {
        let cases: Vec<_> =
            compared.iter().map(|case| (case.by_run[side].as_slice(), case.slices.as_slice())).collect();
        let ids = cases.iter().flat_map(|(runs, _)| runs.iter().map(|(run, _)| run.as_str())).collect();
        Self { ids, cases }
    }

    /// Probability that the runs differ as much from each other if only the trials differ: by exchanges of trials between each run and the
    /// others, whose sums are taken to be normal (χ²). `None` of a single run.
    fn chance(&self) -> Option<f64> {
        let degrees = self.ids.len().checked_sub(1).filter(|degrees| *degrees > 0)?;
        let of = |run: &&str| {
            let units = self.cases.iter().filter_map(|(runs, _)| {
                let (own, others): (Vec<&RunScores>, Vec<&RunScores>) = runs.iter().partition(|(of, _)| of == run);
                let [own, others] =
                    [own, others].map(|runs| runs.iter().flat_map(|(_, scores)| scores.clone()).collect::<Vec<f64>>());
                (!own.is_empty() && !others.is_empty()).then(|| Unit::scores(&others, &own, vec![0]))
            });
            standardised_sum(&units.collect::<Vec<Unit>>(), 0).powi(2)
        };
        // Each of k runs counts once in its own sum, and in those of all others.
        let squares = self.ids.iter().map(of).sum::<f64>() * degrees as f64 / self.ids.len() as f64;
        Some(chi_square_at_least(squares, degrees))
    }

    /// Sum over the runs of the squares of what each has more or less than all of them, in the mean of its cases of a sum.
    fn squares(&self, sum: usize) -> f64 {
        let mut effects: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let is_in = |slices: &[usize]| sum == 0 || slices.contains(&(sum - 1));
        for (runs, _) in self.cases.iter().filter(|(_, slices)| is_in(slices)) {
            let means: Vec<f64> = runs.iter().map(|(_, scores)| mean(scores)).collect();
            let all = mean(&means);
            runs.iter().zip(&means).for_each(|((run, _), of_run)| effects.entry(run).or_default().push(of_run - all));
        }
        effects.values().map(|effects| mean(effects).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalsuite_statistics::{CaseTrials, End, Series};

    /// Cases whose base has these runs, with one score of each case and run.
    fn compared(base: &[&[f64]], run: &[f64]) -> Vec<Compared> {
        let none = Series { passed: 0, failed: 0, end: End::Planned };
        let case = |index: usize| Compared {
            base: base.iter().map(|scores| scores[index]).collect(),
            run: vec![run[index]],
            trials: CaseTrials { base: none, run: none, confirmed: 0, confirmed_better: 0, refuted: false },
            cluster: index,
            slices: Vec::new(),
            unknown: [0, 0],
            by_run: [
                base.iter().enumerate().map(|(number, scores)| (number.to_string(), vec![scores[index]])).collect(),
                vec![("run".to_owned(), vec![run[index]])],
            ],
        };
        (0..run.len()).map(case).collect()
    }

    #[test]
    fn runs_that_differ_more_than_their_trials_count_as_one_each() {
        let [low, high, middle] = [[0.2; 20], [0.8; 20], [0.5; 20]];
        let cases = compared(&[&low, &high, &middle], &[0.3; 20]);
        let found = BetweenRuns::of(&cases, 1).unwrap();
        assert!(found.p < 0.01 && found.degrees == 2, "{}", found.p);
        // 0.3 · √(1 + 1/3)
        assert!((found.deviations[0] - 0.3 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{:?}", found.deviations);
        let sure = ExchangeTest { at_most: 0.001, at_least: 1.0, deviation: 0.1 };
        let test = found.test(0, -0.2, 20, sure);
        assert!((0.2..0.4).contains(&test.at_most) && test.deviation > 6.0, "{test:?}");
        assert!(found.test(0, -3.0, 20, sure).at_most < 0.02);
        let (lower, upper) = found.widened((-0.3, -0.1), -0.2);
        assert!(lower < -0.9 && upper > 0.9, "{lower} {upper}");
    }

    #[test]
    fn runs_that_differ_as_their_trials_do_are_one_sample() {
        let alternating: Vec<f64> = (0..20).map(|index| f64::from(index % 2)).collect();
        let other: Vec<f64> = alternating.iter().map(|score| 1.0 - score).collect();
        assert!(BetweenRuns::of(&compared(&[&alternating, &other, &alternating], &other), 1).is_none());
        assert!(BetweenRuns::of(&compared(&[&[0.5; 20]], &[0.1; 20]), 1).is_none(), "one run says nothing");
    }
}
