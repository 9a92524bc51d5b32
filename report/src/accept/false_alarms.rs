//! How often a baseline will call an agent that has not changed worse.
//!
//! How often the cases of a suite may pass, as far as accepted results tell.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::baseline::{
    AS_LIKELY, Beta, Counts, RESEMBLANCES, RepeatedCases, UnchangedSuite, alike, log_likelihood, planned_trials,
    posterior,
};
use evalsuite_records::record::{Baseline, BaselineCase, CaseRecord, Rule};
use evalsuite_schema::SuiteKind;
use fastrand::Rng;

use crate::run_data::SuiteData;

/// Runs that are drawn.
const DRAWS: usize = 2_000;
/// Runs that are drawn of each population, to find those with the fewest and the most red ones.
const DRAWS_OF_EACH: usize = 200;
const SEED: u64 = 0x0b5e_55ed;
/// Most trials that are suggested.
const MOST_TRIALS: u32 = 20;

/// What share of the runs of an agent that has not changed will be red.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RedBuilds {
    /// Share of such runs in which the test of a case fails, 0 to 1, as far as the accepted results tell.
    pub share: f64,
    /// The smallest and the largest share that explain the accepted results about as well: an interval of 95 %.
    pub range: [f64; 2],
    /// Number of trials of a case that brings it to 0.05 or less, if any up to 20 does.
    pub trials_needed: Option<u32>,
    /// Whether every trial has to pass, so that more trials make it larger.
    pub every: bool,
    /// Whether the mean of its trials decides a case: how often its runs pass does not tell how many trials are needed.
    pub by_mean: bool,
    /// Number of cases that pass, and whose tests cannot tell a failure from chance yet: they have too few accepted trials.
    pub untold: usize,
    /// Number of cases that pass.
    pub passing: usize,
}

/// When the test of a case fails.
#[derive(Debug, Clone, Copy)]
struct Design {
    planned: u32,
    rule: Rule,
    kind: SuiteKind,
    /// Most trials that repeat a case that failed.
    confirming: u32,
}

/// A case as it is accepted, and what is known of its rate.
#[derive(Debug, Clone)]
struct Case {
    accepted: Counts,
    urns: Vec<(f64, Urn)>,
    /// Failed trials that tell that it passes no more, if as many as may run do.
    needed: Option<u32>,
}

impl RedBuilds {
    /// Largest share that is called small.
    pub const SMALL: f64 = 0.05;

    /// Of a baseline and a run of its suite. `confirming`: how many trials at most repeat a case that differs from the baseline. `None`
    /// without results.
    ///
    /// The rates of a suite's cases are taken to be of one beta distribution, fitted to the trials of all of them (beta-binomial); a case's
    /// own trials then tell where in it the case is. Where every case had one trial, cases that fail seldom cannot be told from some that
    /// always fail, and all are taken to have the same rate. From this, runs are drawn with a fixed seed, with the trials that repeat cases.
    /// The range is over all such distributions, and over suites whose cases always pass but for some of one rate, that are about as likely.
    pub fn of(baseline: &Baseline, suite: &SuiteData, confirming: u32) -> Option<Self> {
        Self::of_lines(&baseline.cases, &suite.cases.first()?.record, confirming)
    }

    fn of_lines(lines: &[BaselineCase], record: &CaseRecord, confirming: u32) -> Option<Self> {
        if lines.is_empty() {
            return None;
        }
        let planned = planned_trials(record);
        let confirming = if record.is_one_observation() { 0 } else { confirming };
        let design = Design { planned, rule: record.rule, kind: record.kind, confirming };
        let suite = UnchangedSuite::new(lines);
        let best = Population::of(suite.rates());
        let simulation = Simulation { lines, suite };
        let cases = simulation.cases(&best, &simulation.needed(design));
        let share = simulation.share(&cases, design, DRAWS);
        let is_small = |planned: &u32| {
            let design = Design { planned: *planned, ..design };
            let cases = simulation.cases(&best, &simulation.needed(design));
            simulation.share(&cases, design, DRAWS) <= Self::SMALL
        };
        let every = design.rule == Rule::Every;
        let by_mean = matches!(design.rule, Rule::Mean | Rule::ConfidenceInterval);
        let is_told = share > Self::SMALL && !every && !by_mean;
        let needed = if is_told { (design.planned + 1..=MOST_TRIALS).find(is_small) } else { None };
        let passing = cases.iter().filter(|case| case.accepted.0 > 0);
        let untold =
            passing.clone().filter(|case| case.needed.is_none() && design.kind == SuiteKind::Capability).count();
        let range = simulation.range(design).map(|end| [share.min(end), share.max(end)]);
        let range = [range[0][0], range[1][1]];
        Some(Self { share, range, trials_needed: needed, every, by_mean, untold, passing: passing.count() })
    }
}

/// What runs are drawn from.
struct Simulation<'a> {
    lines: &'a [BaselineCase],
    suite: UnchangedSuite,
}

impl Simulation<'_> {
    /// Failed trials that tell that a case with these accepted trials passes no more.
    fn needed(&self, design: Design) -> BTreeMap<Counts, Option<u32>> {
        let most = design.planned.saturating_add(design.confirming);
        let accepted: BTreeSet<Counts> = self.lines.iter().map(|line| (line.passed, line.trials)).collect();
        accepted.into_iter().map(|it| (it, self.suite.failures_needed(it, design.planned, most))).collect()
    }

    fn cases(&self, population: &Population, needed: &BTreeMap<Counts, Option<u32>>) -> Vec<Case> {
        let of = |line: &BaselineCase| {
            let accepted = (line.passed, line.trials);
            Case { accepted, urns: population.urns(accepted), needed: needed.get(&accepted).copied().flatten() }
        };
        self.lines.iter().map(of).collect()
    }

    /// The smallest and the largest share of red runs of all populations that the results can be of.
    fn range(&self, design: Design) -> [f64; 2] {
        let needed = self.needed(design);
        let cases = plausible(self.lines).into_iter().map(|population| self.cases(&population, &needed));
        let mut all: Vec<(f64, Vec<Case>)> =
            cases.map(|cases| (self.share(&cases, design, DRAWS_OF_EACH), cases)).collect();
        all.sort_by(|(left, _), (right, _)| left.total_cmp(right));
        let of = |found: Option<&(f64, Vec<Case>)>| found.map_or(0.0, |(_, cases)| self.share(cases, design, DRAWS));
        [of(all.first()), of(all.last())]
    }

    /// Share of drawn runs in which the test of any case is red.
    fn share(&self, cases: &[Case], design: Design, draws: usize) -> f64 {
        let mut random = Rng::with_seed(SEED);
        let planned = u32::try_from(cases.len()).unwrap_or(u32::MAX).saturating_mul(design.planned);
        let too_many = self.suite.too_many_failures(design.planned, design.rule);
        let red = (0..draws).filter(|_| {
            let (mut repeated, mut failed) = (RepeatedCases::default(), 0);
            cases.iter().any(|case| {
                let (fails, is_red) = self.run(case, design, &mut repeated, planned, &mut random);
                failed += u32::from(fails);
                is_red || design.kind == SuiteKind::Capability && failed >= too_many
            })
        });
        red.count() as f64 / draws as f64
    }

    /// Runs a case: whether it fails though it has passed, and whether its test is red for that.
    fn run(
        &self,
        Case { accepted, urns, needed }: &Case,
        design: Design,
        repeated: &mut RepeatedCases,
        planned: u32,
        random: &mut Rng,
    ) -> (bool, bool) {
        let reads_baseline = design.kind == SuiteKind::Capability;
        if reads_baseline && accepted.0 == 0 {
            return (false, false);
        }
        let mut urn = Urn::choose(urns, random);
        let (passed, trials) = design.draw(&mut urn, random);
        let fails = match design.rule {
            Rule::Any => passed == 0,
            Rule::Every | Rule::Mean | Rule::ConfidenceInterval => passed < design.planned,
        };
        if !fails || !reads_baseline {
            return (fails, fails);
        }
        if passed > 0 {
            return (true, self.suite.is_worse(*accepted, (passed, trials)));
        }
        let Some(missing) = needed.map(|needed| needed.saturating_sub(trials)) else { return (true, false) };
        if missing == 0 || repeated.allowed(design.confirming, planned) == 0 {
            return (true, missing == 0);
        }
        let further = (1..=missing).find(|_| urn.draw(random));
        repeated.add(further.unwrap_or(missing), further.is_none());
        (true, further.is_none())
    }
}

impl Design {
    /// The planned trials of a case: how many passed, and how many ran.
    fn draw(self, urn: &mut Urn, random: &mut Rng) -> Counts {
        let mut passed = 0;
        for trial in 1..=self.planned {
            passed += u32::from(urn.draw(random));
            let is_decided = match self.rule {
                Rule::Any => passed > 0,
                Rule::Every => passed < trial,
                Rule::Mean | Rule::ConfidenceInterval => false,
            };
            if is_decided {
                return (passed, trial);
            }
        }
        (passed, self.planned)
    }
}

/// How far the means of rates are from the observed one that are tried on either side, in standard errors of its logit, if all rates were equal.
const DISTANCES: [f64; 9] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0];
/// Shares of cases that do not always pass, and their rates, that are tried in suites whose other cases always do.
const SHARES: [f64; 10] = [0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8];
const RATES: [f64; 8] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9];
/// Trials that are as good as a rate that is known.
const MANY: f64 = 1e9;

/// A distribution of the rates of cases: beta distributions with the share of the cases that each has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Population(Vec<(f64, Beta)>);

/// A case whose trials pass with a probability that its own trials tell, and each further one (Pólya's urn).
#[derive(Debug, Clone, Copy)]
pub(super) struct Urn(Beta);

impl Population {
    pub(super) fn of(beta: Beta) -> Self {
        Self(vec![(1.0, beta)])
    }

    /// Cases that always pass, but for a share that has one rate.
    fn stable_but(share: f64, rate: f64) -> Self {
        Self(vec![(1.0 - share, [MANY, 0.0]), (share, [rate * MANY, (1.0 - rate) * MANY])])
    }

    /// What a case with these trials is: its urns with their probabilities, up to a factor.
    pub(super) fn urns(&self, counts: Counts) -> Vec<(f64, Urn)> {
        self.weights(counts).zip(&self.0).map(|(weight, (_, beta))| (weight, Urn(posterior(*beta, counts)))).collect()
    }

    /// How probable these trials are, in their order, in a case of each of the distributions and with its share.
    fn weights(&self, counts: Counts) -> impl Iterator<Item = f64> {
        self.0.iter().map(move |(share, beta)| share * log_likelihood(*beta, counts).exp())
    }

    fn log_likelihood(&self, lines: &BTreeMap<Counts, u32>) -> f64 {
        let of = |(counts, lines): (&Counts, &u32)| f64::from(*lines) * self.weights(*counts).sum::<f64>().ln();
        lines.iter().map(of).sum()
    }
}

impl Urn {
    /// One of a case's urns.
    pub(super) fn choose(urns: &[(f64, Self)], random: &mut Rng) -> Self {
        let [(_, only)] = urns else {
            let mut left = random.f64() * urns.iter().map(|(chance, _)| chance).sum::<f64>();
            let found = urns.iter().find(|(chance, _)| {
                left -= chance;
                left < 0.0
            });
            return found.or(urns.last()).map_or(Self([1.0, 1.0]), |(_, urn)| *urn);
        };
        *only
    }

    /// Draws a trial, and with it what is known of the next one.
    pub(super) fn draw(&mut self, random: &mut Rng) -> bool {
        let [passes, fails] = &mut self.0;
        let is_pass = random.f64() * (*passes + *fails) < *passes;
        *(if is_pass { passes } else { fails }) += 1.0;
        is_pass
    }
}

/// The populations that explain accepted results about as well as the best one does: 95 of 100 times, one of them has the true value of
/// what is computed from it (profile likelihood).
fn plausible(lines: &[BaselineCase]) -> Vec<Population> {
    let alike = alike(lines);
    let sum = |of: fn(&BaselineCase) -> u32| lines.iter().map(|line| f64::from(of(line))).sum::<f64>();
    let (passed, trials) = (sum(|line| line.passed), sum(|line| line.trials));
    let (passed, failed) = (passed + 0.5, trials - passed + 0.5);
    let (logit, error) = ((passed / failed).ln(), (1.0 / passed + 1.0 / failed).sqrt());
    let logits = DISTANCES.iter().flat_map(|distance| [logit - distance * error, logit + distance * error]);
    let means = logits.map(|logit| 1.0 / (1.0 + f64::exp(-logit)));
    let betas = means.flat_map(|mean| RESEMBLANCES.map(|all| Population::of([mean * all, (1.0 - mean) * all])));
    let stable = SHARES.iter().flat_map(|share| RATES.map(|rate| Population::stable_but(*share, rate)));
    let of = |population: Population| (population.log_likelihood(&alike), population);
    let all: Vec<(f64, Population)> = betas.chain(stable).map(of).collect();
    let best = all.iter().map(|(likelihood, _)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
    all.into_iter().filter(|(likelihood, _)| *likelihood >= best - AS_LIKELY).map(|(_, it)| it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(usize, u32, u32)]) -> Vec<BaselineCase> {
        let line = |(passed, trials): (u32, u32)| {
            let mut line = BaselineCase::default();
            (line.passed, line.trials) = (passed, trials);
            line
        };
        of.iter().flat_map(|(count, passed, trials)| vec![line((*passed, *trials)); *count]).collect()
    }

    fn record(kind: SuiteKind, rule: Rule, planned: u32) -> CaseRecord {
        let mut record = CaseRecord::new();
        (record.kind, record.rule, record.planned) = (kind, rule, planned);
        record
    }

    fn of(lines: &[BaselineCase], record: &CaseRecord, confirming: u32) -> RedBuilds {
        RedBuilds::of_lines(lines, record, confirming).unwrap()
    }

    #[test]
    fn thirty_cases_that_pass_nine_of_ten_times() {
        let noisy = lines(&[(27, 1, 1), (3, 0, 1)]);
        let any = |planned| record(SuiteKind::Capability, Rule::Any, planned);
        let unconfirmed = of(&noisy, &any(1), 0);
        assert!(unconfirmed.share < 0.005, "{unconfirmed:?}");
        assert_eq!((unconfirmed.untold, unconfirmed.passing), (27, 27), "{unconfirmed:?}");
        let confirmed = of(&noisy, &any(1), 30);
        assert!(confirmed.share < 0.02 && confirmed.untold == 0, "{confirmed:?}");
        // 1 − 0.9³⁰ = 0.96: elsewhere a case that fails is red.
        let mixed = of(&noisy, &record(SuiteKind::Mixed, Rule::Any, 1), 30);
        assert!((0.93..0.98).contains(&mixed.share) && mixed.trials_needed == Some(3), "{mixed:?}");
        let every = of(&noisy, &record(SuiteKind::Regression, Rule::Every, 3), 30);
        assert!(every.share > 0.99 && every.every && every.trials_needed.is_none(), "{every:?}");
        // Half of the cases have been seen to fail: they are not left out.
        let flaky = of(&lines(&[(15, 3, 3), (15, 1, 3)]), &any(3), 30);
        assert!(flaky.share < 0.03, "{flaky:?}");
    }

    #[test]
    fn cases_that_never_flicker_are_told_from_those_that_do() {
        let every = record(SuiteKind::Regression, Rule::Every, 1);
        let stable = of(&lines(&[(30, 10, 10)]), &every, 0);
        let alike = of(&lines(&[(15, 10, 10), (15, 7, 10)]), &every, 0);
        assert!(stable.share < 0.15, "{stable:?}");
        assert!(alike.share > 0.5, "{alike:?}");
        assert!(of(&lines(&[(29, 10, 10), (1, 0, 10)]), &every, 0).share > 0.9, "a case fails in every run");
    }

    #[test]
    fn the_range_holds_what_the_accepted_results_leave_open() {
        let noisy = lines(&[(27, 1, 1), (3, 0, 1)]);
        let builds = of(&noisy, &record(SuiteKind::Capability, Rule::Any, 1), 30);
        // All cases at 0.9, or 27 that always pass and three that do once in twenty trials.
        assert!(builds.range[0] < 0.01 && builds.range[1] > 0.05, "{builds:?}");
        let text = builds.to_string();
        assert!(
            text.contains("less than 1% of runs (at most ") || text.contains("about 1% of runs (at most "),
            "{text}"
        );
        let sharp = of(&lines(&[(30, 20, 20)]), &record(SuiteKind::Regression, Rule::Every, 1), 30);
        assert!(sharp.range[0] <= sharp.share && sharp.share <= sharp.range[1], "{sharp:?}");
        assert!(sharp.range[1] < 0.2, "600 trials passed: {sharp:?}");
        let one = of(&lines(&[(30, 1, 1)]), &record(SuiteKind::Regression, Rule::Every, 1), 30);
        assert!(one.range[1] > 0.6, "{one:?}");
        // 1 − 0.95³⁰ = 0.79, where a case passes in 19 of 20 trials.
        let known = of(&lines(&[(30, 190, 200)]), &record(SuiteKind::Regression, Rule::Every, 1), 30);
        assert!(known.range[0] > 0.7 && known.range[1] < 0.85, "{known:?}");
        assert!(
            known
                .to_string()
                .starts_with(&format!("an unchanged agent fails about {:.0}% of runs (", 100.0 * known.share))
        );
    }

    #[test]
    fn correlated_trials_are_one() {
        let lines = lines(&[(27, 1, 1), (3, 0, 1)]);
        let mut correlated = record(SuiteKind::Mixed, Rule::Any, 3);
        correlated.correlated = true;
        assert_eq!(of(&lines, &correlated, 30), of(&lines, &record(SuiteKind::Mixed, Rule::Any, 1), 0));
    }

    #[test]
    fn nothing_is_said_without_results() {
        assert_eq!(RedBuilds::of_lines(&[], &CaseRecord::new(), 10), None);
        assert_eq!(RedBuilds::of(&Baseline::default(), &SuiteData::default(), 10), None);
    }
}
