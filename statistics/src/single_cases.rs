//! Which cases of a suite changed, tested case by case, so that all of them together are wrong as seldom as one test may be.

use std::collections::BTreeMap;

use evalsuite_records::trial_statistics::binomial_at_least;

use crate::rates::{Boschloo, tails};

/// Rates of passing that are tried where a rate is not known.
const RATES: u32 = 400;
/// Cases above which it is taken to be impossible that chance makes as many look worse.
const MOST_USED: usize = 20;

/// The trials of a case in one run, passed and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// Trials that passed.
    pub passed: u32,
    /// Trials that failed.
    pub failed: u32,
    /// When the trials end.
    pub end: End,
}

/// When the trials of a case end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// After a number of trials that is known before.
    Planned,
    /// With the first that passes, or after a number that is known before.
    Pass,
    /// With the first that fails, or after a number that is known before.
    Failure,
}

/// What is known of a case from two runs, of which the second one may be worse. Whether it is better is asked with passed and failed
/// exchanged, see [`reversed`](Self::reversed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseTrials {
    /// Its trials in the first run.
    pub base: Series,
    /// Its trials in the second run.
    pub run: Series,
    /// Trials that repeated the case because it came out worse, and failed before one passed.
    pub confirmed: u32,
    /// Trials that repeated it for the opposite reason, and passed before one failed.
    pub confirmed_better: u32,
    /// Whether a repetition ended otherwise than the trials that it repeats.
    pub refuted: bool,
}

impl Series {
    /// The trials of several runs of one agent. Where a run ends with the first trial that decides the case, and one did, only the first
    /// trial of each run counts: if none did, all trials came out one way, and all count.
    pub fn of_runs(runs: &[Self]) -> Self {
        if let [one] = runs {
            return *one;
        }
        let sum = |of: fn(&Self) -> u32| runs.iter().map(of).sum();
        let (passed, failed) = (sum(|run| run.passed), sum(|run| run.failed));
        let all_are = |end: End| runs.iter().all(|run| run.end == end);
        let end = match (passed, failed) {
            (0, _) if all_are(End::Pass) => End::Pass,
            (_, 0) if all_are(End::Failure) => End::Failure,
            _ => End::Planned,
        };
        if end != End::Planned || all_are(End::Planned) {
            return Self { passed, failed, end };
        }
        let firsts = runs.iter().map(|run| match run.end {
            End::Planned => (run.passed, run.failed),
            End::Pass => (u32::from(run.failed == 0), u32::from(run.failed > 0)),
            End::Failure => (u32::from(run.passed > 0), u32::from(run.passed == 0)),
        });
        let (passed, failed) = firsts.fold((0, 0), |all, run| (all.0 + run.0, all.1 + run.1));
        Self { passed, failed, end }
    }

    fn reversed(self) -> Self {
        let end = match self.end {
            End::Planned => End::Planned,
            End::Pass => End::Failure,
            End::Failure => End::Pass,
        };
        Self { passed: self.failed, failed: self.passed, end }
    }

    /// Probability of trials that are at least as good, where each passes with this probability.
    fn at_least_as_good(self, rate: f64) -> f64 {
        let Self { passed, failed, end } = self;
        match end {
            End::Planned => binomial_at_least(passed, passed + failed, rate),
            End::Pass if passed == 0 => 1.0,
            End::Pass => 1.0 - (1.0 - rate).powf(f64::from(failed + 1)),
            End::Failure => rate.powf(f64::from(passed)),
        }
    }

    /// Probability of trials that are at least as bad.
    fn at_least_as_bad(self, rate: f64) -> f64 {
        self.reversed().at_least_as_good(1.0 - rate)
    }
}

impl CaseTrials {
    /// The same with passed and failed exchanged.
    pub fn reversed(self) -> Self {
        Self {
            base: self.base.reversed(),
            run: self.run.reversed(),
            confirmed: self.confirmed_better,
            confirmed_better: self.confirmed,
            refuted: self.refuted,
        }
    }

    /// Whether all trials of both runs came out alike.
    pub fn agrees(self) -> bool {
        let [base, run] = [self.base, self.run];
        let is_repeated = self.refuted || self.confirmed + self.confirmed_better > 0;
        !is_repeated && (base.failed + run.failed == 0 || base.passed + run.passed == 0)
    }

    /// Whether the numbers of trials that were planned were known before.
    pub fn have_planned_ends(self) -> bool {
        [self.base.end, self.run.end] == [End::Planned; 2]
    }

    /// Whether the numbers of trials were known before, so that an exact test of two rates can be made.
    fn is_planned(self) -> bool {
        self.have_planned_ends() && self.confirmed + self.confirmed_better == 0 && !self.refuted
    }

    /// The numbers of trials.
    fn sizes(self) -> (u32, u32) {
        (self.base.passed + self.base.failed, self.run.passed + self.run.failed)
    }

    /// Probability of results at least as much worse as these if nothing has changed, where the numbers of trials depend on how they ended
    /// or some repeat the case. Where it depends on how often the case passes, it is the largest one.
    fn unplanned_p_value(self) -> f64 {
        let Self { base, run, .. } = self;
        let repeated = |rate: f64| (1.0 - rate).powf(f64::from(self.confirmed));
        let product = |rate: f64| base.at_least_as_good(rate) * run.at_least_as_bad(rate) * repeated(rate);
        let largest = (1..RATES).map(|step| product(f64::from(step) / f64::from(RATES))).fold(0.0, f64::max);
        if base.failed == 0 && run.passed == 0 && !self.refuted {
            return largest;
        }
        // Other results with as small a product are possible; that many, if both factors are uniform.
        if largest > 0.0 { f64::min(1.0, largest * (1.0 - largest.ln())) } else { 0.0 }
    }

    /// Whether chance may have been at work in the case: something failed.
    fn has_failed(self) -> bool {
        self.base.failed + self.run.failed + self.confirmed > 0
    }
}

/// The cases that came out worse than chance explains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worse {
    /// For each case, the probability that chance alone makes any case of the suite look as bad, if it is small enough.
    pub p_values: Vec<Option<f64>>,
    /// The probability that the test says so of any case of a suite with such results in which nothing has changed.
    pub used: f64,
}

/// Cases with equal trials.
struct Kind {
    case: CaseTrials,
    p_value: f64,
    /// The p-values that the case could have had with as many trials passed in both runs together, and the probability of each and of
    /// smaller ones, if that number is given.
    attainable: Vec<(f64, f64)>,
    /// Number of such cases that are not known to be worse.
    open: usize,
}

impl Kind {
    fn new(case: CaseTrials, tests: &mut BTreeMap<(u32, u32), Boschloo>) -> Self {
        let (base, run) = case.sizes();
        let passed = case.base.passed + case.run.passed;
        let mut attainable = tails(passed, run, base).into_iter();
        if !case.is_planned() {
            let attainable = attainable.map(|(_, tail)| (tail, tail)).collect();
            return Self { case, p_value: case.unplanned_p_value(), attainable, open: 0 };
        }
        let test = tests.entry((base, run)).or_insert_with(|| Boschloo::new(base, run));
        let p_value = test.p_value(case.base.passed, case.run.passed);
        let attainable = attainable.by_ref().map(|(among, tail)| (test.p_value(passed - among, among), tail)).collect();
        Self { case, p_value, attainable, open: 0 }
    }

    /// Probability of a p-value that is at most as large, with as many trials passed in both runs together.
    fn attains(&self, value: f64) -> f64 {
        let is_small = |(p, _): &&(f64, f64)| *p <= value * (1.0 + 1e-9);
        self.attainable.iter().filter(is_small).map(|(_, probability)| *probability).fold(0.0, f64::max)
    }
}

/// Finds the cases that came out worse, such that the probability to name any case of a suite in which nothing has changed is at most
/// `level`.
///
/// A case with a known number of trials is tested by Boschloo's exact test. Of the other cases, it counts how probable as small a p-value is
/// if as many of their trials pass: a case of which all trials passed in both runs, or none, can only come out so, and takes nothing
/// of the level (Tarone 1990). Among 99 cases that never flicker, the hundredth is judged as if it were alone. Where trials end early,
/// or repeat a case because it came out otherwise, the case is judged by the rate of passing that makes chance most likely, and every
/// other case in which something failed counts as one that could have come out so.
pub fn worse_cases(cases: &[CaseTrials], level: f64) -> Worse {
    let (mut kinds, mut numbers, mut tests) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut kind_of = Vec::new();
    for case in cases {
        let number = *numbers.entry(*case).or_insert_with(|| {
            kinds.push(Kind::new(*case, &mut tests));
            kinds.len() - 1
        });
        kinds[number].open += 1;
        kind_of.push(number);
    }
    let is_exact = kinds.iter().all(|kind: &Kind| kind.case.is_planned() || !kind.case.has_failed());
    let used = if is_exact { used(&kinds, level) } else { level };
    let mut p_of_kind: Vec<Option<f64>> = vec![None; kinds.len()];
    loop {
        let open = || kinds.iter().filter(|kind| kind.open > 0);
        let smallest = open().map(|kind| kind.p_value).fold(1.0, f64::min);
        let is_found = |kind: &Kind| kind.open > 0 && kind.p_value <= smallest * (1.0 + 1e-9);
        let many = open().filter(|kind| is_found(kind)).map(|kind| kind.open).sum();
        // Where chance makes other cases look as bad, too, several are left to the scores, which have the level then.
        let others = || open().filter(|kind| !is_found(kind)).map(|kind| (kind.attains(smallest), kind.open));
        let p = probability_of_as_many(&kinds, smallest, many, is_found);
        if smallest > level || p > level || is_exact && at_least(1, others()) > level {
            return Worse { p_values: kind_of.into_iter().map(|kind| p_of_kind[kind]).collect(), used };
        }
        let found: Vec<usize> = (0..kinds.len()).filter(|kind| is_found(&kinds[*kind])).collect();
        for kind in found {
            (p_of_kind[kind], kinds[kind].open) = (Some(p), 0);
        }
    }
}

/// How much of the level such cases can take, whatever came out of it, if their numbers of trials are planned.
fn used(kinds: &[Kind], level: f64) -> f64 {
    let mut used: f64 = 0.0;
    for (value, _) in kinds.iter().flat_map(|kind| &kind.attainable).filter(|(value, _)| *value <= level) {
        let mut others: Vec<(f64, usize)> = kinds.iter().map(|kind| (kind.attains(*value), kind.open)).collect();
        let all = others.clone();
        // The fewest cases that have to come out so, for the others to leave the level to them.
        let mut fewest = 0;
        while fewest < MOST_USED && (fewest == 0 || at_least(1, others.iter().copied()) > level) {
            let largest =
                others.iter_mut().filter(|(_, count)| *count > 0).max_by(|left, right| left.0.total_cmp(&right.0));
            let Some((_, count)) = largest else { break };
            (*count, fewest) = (*count - 1, fewest + 1);
        }
        if fewest < MOST_USED {
            used = used.max(at_least(fewest, all.into_iter()));
        }
    }
    used.min(level)
}

/// Probability that as many of the open cases or more come out with this p-value or a smaller one.
fn probability_of_as_many(kinds: &[Kind], value: f64, many: usize, is_found: impl Fn(&Kind) -> bool) -> f64 {
    let open = || kinds.iter().filter(|kind| kind.open > 0);
    let is_exact = open().all(|kind| kind.case.is_planned());
    let probability = |kind: &Kind| match kind.case {
        _ if is_found(kind) => value,
        case if case.is_planned() && (is_exact || !case.has_failed()) => kind.attains(value),
        case if case.has_failed() => value.max(kind.attains(value)),
        _ => 0.0,
    };
    at_least(many, open().map(|kind| (probability(kind), kind.open)))
}

/// Probability that as many of independent events or more happen; for each probability, the number of such events.
fn at_least(many: usize, events: impl Iterator<Item = (f64, usize)>) -> f64 {
    let mut events = events.filter(|(p, _)| *p > 0.0);
    match many {
        0 => return 1.0,
        1 => return 1.0 - events.map(|(p, count)| (1.0 - p).powf(count as f64)).product::<f64>(),
        _ => {}
    }
    // Of so many, exactly 0, 1, … happen; the last one is `many` or more.
    let mut exactly = vec![0.0; many + 1];
    exactly[0] = 1.0;
    for p in events.by_ref().flat_map(|(p, count)| std::iter::repeat_n(p, count)) {
        exactly[many] += exactly[many - 1] * p;
        for count in (1..many).rev() {
            exactly[count] = exactly[count] * (1.0 - p) + exactly[count - 1] * p;
        }
        exactly[0] *= 1.0 - p;
    }
    exactly[many]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_runs_that_end_early_the_first_trials_count_unless_all_trials_came_out_one_way() {
        let pass = |passed, failed| Series { passed, failed, end: End::Pass };
        let planned = |passed, failed| Series { passed, failed, end: End::Planned };
        assert_eq!(Series::of_runs(&[pass(1, 2)]), pass(1, 2));
        assert_eq!(Series::of_runs(&[pass(0, 3), pass(0, 3)]), pass(0, 6));
        assert_eq!(Series::of_runs(&[pass(1, 2), pass(1, 0), pass(0, 3)]), planned(1, 2));
        assert_eq!(Series::of_runs(&[planned(2, 1), planned(3, 0)]), planned(5, 1));
        let failure = |passed, failed| Series { passed, failed, end: End::Failure };
        assert_eq!(Series::of_runs(&[failure(3, 0), failure(3, 0)]), failure(6, 0));
        assert_eq!(Series::of_runs(&[failure(2, 1), failure(0, 1)]), planned(1, 1));
    }

    #[test]
    fn several_of_independent_events_are_as_probable_as_all_ways_in_which_they_happen() {
        // None of the three with probability 3/16, exactly one with 7/16, two with 5/16, three with 1/16.
        let shares = [(0, 16.0), (1, 13.0), (2, 6.0), (3, 1.0), (4, 0.0)];
        for (many, sixteenths) in shares {
            let p = at_least(many, [(0.5, 2), (0.0, 9), (0.25, 1)].into_iter());
            assert!((p * 16.0 - sixteenths).abs() < 1e-12, "{many}: {p}");
        }
        assert_eq!(at_least(0, std::iter::empty()), 1.0);
    }

    fn planned(base: (u32, u32), run: (u32, u32)) -> CaseTrials {
        let series = |(passed, ended)| Series { passed, failed: ended - passed, end: End::Planned };
        CaseTrials { base: series(base), run: series(run), confirmed: 0, confirmed_better: 0, refuted: false }
    }

    fn found(cases: &[CaseTrials], level: f64) -> usize {
        worse_cases(cases, level).p_values.iter().flatten().count()
    }

    #[test]
    fn one_case_is_judged_alone_among_stable_ones_and_not_among_noisy_ones() {
        let broken = planned((5, 5), (0, 5));
        let with = |others: CaseTrials| [vec![others; 99], vec![broken]].concat();
        let stable = worse_cases(&with(planned((5, 5), (5, 5))), 0.02);
        assert_eq!(stable.p_values.iter().flatten().count(), 1);
        assert!((stable.p_values[99].unwrap() - 1.0 / 1024.0).abs() < 1e-9 && stable.used < 0.02, "{stable:?}");
        assert_eq!(found(&with(planned((0, 5), (0, 5))), 0.02), 1, "what always fails does not flicker either");
        assert_eq!(
            found(&with(planned((3, 5), (2, 5))), 0.02),
            0,
            "of a hundred such cases, one in three runs has one"
        );
        assert_eq!(found(&[planned((3, 3), (0, 3))], 0.02), 1, "at most 1 in 64");
        assert_eq!(found(&[planned((3, 3), (0, 3)), planned((2, 3), (1, 3))], 0.04), 0, "the other one is 1 in 20");
        assert_eq!(found(&[planned((2, 2), (0, 2))], 0.04), 0, "1 in 16");
        assert_eq!(found(&[planned((2, 2), (0, 2)); 2], 0.04), 0, "one of them is as probable as before");
    }

    #[test]
    fn a_trial_that_fails_is_a_change_once_it_is_confirmed() {
        let one = |confirmed: u32| CaseTrials { confirmed, ..planned((1, 1), (0, 1)) };
        let stable = vec![planned((1, 1), (1, 1)); 99];
        let with = |cases: &[CaseTrials]| found(&[stable.clone(), cases.to_vec()].concat(), 0.04);
        assert_eq!((with(&[one(0)]), with(&[one(5)]), with(&[one(10)])), (0, 0, 1));
        assert_eq!(with(&[one(10), planned((0, 1), (0, 1))]), 0, "the other one may pass as seldom");
        assert_eq!(with(&[one(10), one(10)]), 2, "two at once are no accident");
        assert_eq!(with(&[CaseTrials { refuted: true, ..one(4) }]), 0);
    }

    #[test]
    fn trials_that_end_early_say_as_much_as_their_order() {
        let series = |passed, failed, end| Series { passed, failed, end };
        let case = |base, run| CaseTrials { base, run, ..planned((1, 1), (1, 1)) };
        // p·(1 − p)⁵ is at most 0.067.
        let any = case(series(1, 0, End::Pass), series(0, 5, End::Pass)).unplanned_p_value();
        assert!((any - 0.067).abs() < 1e-3, "{any}");
        // p³·(1 − p) is at most 0.105.
        let every = case(series(3, 0, End::Failure), series(0, 1, End::Failure)).unplanned_p_value();
        assert!((every - 0.105).abs() < 1e-3, "{every}");
        assert!(case(series(0, 5, End::Pass), series(0, 5, End::Pass)).unplanned_p_value() > 0.999);
    }

    #[test]
    fn better_is_worse_with_passed_and_failed_exchanged() {
        let better = planned((0, 5), (5, 5));
        assert_eq!((found(&[better], 0.02), found(&[better.reversed()], 0.02)), (0, 1));
    }
}
