//! How often a baseline will call an agent that has not changed worse.
//!
//! How often the cases of a suite may pass, as far as accepted results tell.

use std::collections::BTreeMap;

use evalsuite_records::baseline::{
    AS_LIKELY, Beta, CaseDesign, Counts, RESEMBLANCES, RepeatedCases, UnchangedSuite, alike, log_likelihood, posterior,
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
    /// Number of trials of a case that brings it to 0.05 or less, if any up to 20 does; other cases keep theirs if they have more.
    pub trials_needed: Option<u32>,
    /// Whether there are cases of which every trial has to pass, so that more trials make it larger.
    pub every: bool,
    /// Whether there are cases that the mean of their trials decides: how often their runs pass does not tell how many trials are needed.
    pub by_mean: bool,
    /// Number of cases that pass, and whose tests cannot tell a failure from chance yet: they have too few accepted trials.
    pub untold: usize,
    /// Number of cases that pass.
    pub passing: usize,
}

/// When the test of a case fails.
#[derive(Debug, Clone, Copy)]
struct Design {
    of_case: CaseDesign,
    kind: SuiteKind,
    /// Most trials that repeat a case that failed.
    confirming: u32,
}

/// A case as it is accepted, and what is known of its rate.
#[derive(Debug, Clone)]
struct Case {
    accepted: Counts,
    design: Design,
    urns: Vec<(f64, Urn)>,
    /// Failed trials that tell that it passes no more, if as many as may run do.
    needed: Option<u32>,
}

impl RedBuilds {
    /// Largest share that is called small.
    pub const SMALL: f64 = 0.05;

    /// Of a baseline and a run of its suite, which says how each case is decided: one that it does not have is taken to be as the first one of
    /// its target. `confirming`: how many trials at most repeat a case that differs from the baseline. `None` without results.
    ///
    /// The rates of a suite's cases are taken to be of one beta distribution, fitted to the trials of all of them (beta-binomial); a case's
    /// own trials then tell where in it the case is. Where every case had one trial, cases that fail seldom cannot be told from some that
    /// always fail, and all are taken to have the same rate. From this, runs are drawn with a fixed seed, with the trials that repeat cases.
    /// The range is over all such distributions, and over suites whose cases always pass but for some of one rate, that are about as likely.
    pub fn of(baseline: &Baseline, suite: &SuiteData, confirming: u32) -> Option<Self> {
        let mut records: BTreeMap<(&str, &str), &CaseRecord> = BTreeMap::new();
        let mut of_targets: BTreeMap<&str, &CaseRecord> = BTreeMap::new();
        for record in suite.cases.iter().map(|case| &case.record) {
            records.entry((&record.case_id, &record.target)).or_insert(record);
            of_targets.entry(&record.target).or_insert(record);
        }
        let first = &suite.cases.first()?.record;
        let record = |line: &BaselineCase| {
            let alike = || of_targets.get(line.target.as_str());
            records.get(&line.key()).or_else(alike).copied().unwrap_or(first)
        };
        Self::of_lines(&baseline.cases, record, confirming)
    }

    fn of_lines<'r>(
        lines: &[BaselineCase],
        record: impl Fn(&BaselineCase) -> &'r CaseRecord,
        confirming: u32,
    ) -> Option<Self> {
        if lines.is_empty() {
            return None;
        }
        let design = |line: &BaselineCase| {
            let record = record(line);
            let confirming = if record.is_one_observation() { 0 } else { confirming };
            Design { of_case: CaseDesign::of(record), kind: record.kind, confirming }
        };
        let designs: Vec<Design> = lines.iter().map(design).collect();
        let suite = UnchangedSuite::new(lines);
        let best = Population::of(suite.rates());
        let simulation = Simulation { lines, suite };
        let cases = simulation.cases(&best, &designs);
        let share = simulation.share(&cases, DRAWS);
        let has = |is: fn(Rule) -> bool| designs.iter().any(|design| is(design.of_case.rule));
        let fewest =
            designs.iter().filter(|design| design.of_case.rule == Rule::Any).map(|it| it.of_case.planned).min();
        let is_small = |trials: &u32| {
            let more = |design: &Design| design.with_at_least(*trials);
            let cases = simulation.cases(&best, &designs.iter().map(more).collect::<Vec<_>>());
            simulation.share(&cases, DRAWS) <= Self::SMALL
        };
        let trials_needed =
            fewest.filter(|_| share > Self::SMALL).and_then(|fewest| (fewest + 1..=MOST_TRIALS).find(is_small));
        let passing = cases.iter().filter(|case| case.accepted.0 > 0);
        let is_untold = |case: &&Case| case.needed.is_none() && case.design.kind == SuiteKind::Capability;
        let range = simulation.range(&designs).map(|end| [share.min(end), share.max(end)]);
        Some(Self {
            share,
            range: [range[0][0], range[1][1]],
            trials_needed,
            every: has(|rule| rule == Rule::Every),
            by_mean: has(|rule| matches!(rule, Rule::Mean | Rule::ConfidenceInterval)),
            untold: passing.clone().filter(is_untold).count(),
            passing: passing.count(),
        })
    }
}

/// What runs are drawn from.
struct Simulation<'a> {
    lines: &'a [BaselineCase],
    suite: UnchangedSuite,
}

impl Simulation<'_> {
    /// The cases of a population. `designs`: those of the lines.
    fn cases(&self, population: &Population, designs: &[Design]) -> Vec<Case> {
        let mut known: BTreeMap<(Counts, u32, u32), Option<u32>> = BTreeMap::new();
        let of = |(line, design): (&BaselineCase, &Design)| {
            let accepted = (line.passed, line.trials);
            let planned = design.of_case.planned;
            let most = planned.saturating_add(design.confirming);
            let needed = || self.suite.failures_needed(accepted, planned, most);
            let needed = *known.entry((accepted, planned, most)).or_insert_with(needed);
            Case { accepted, design: *design, urns: population.urns(accepted), needed }
        };
        self.lines.iter().zip(designs).map(of).collect()
    }

    /// The smallest and the largest share of red runs of all populations that the results can be of.
    fn range(&self, designs: &[Design]) -> [f64; 2] {
        let cases = plausible(self.lines).into_iter().map(|population| self.cases(&population, designs));
        let mut all: Vec<(f64, Vec<Case>)> = cases.map(|cases| (self.share(&cases, DRAWS_OF_EACH), cases)).collect();
        all.sort_by(|(left, _), (right, _)| left.total_cmp(right));
        let of = |found: Option<&(f64, Vec<Case>)>| found.map_or(0.0, |(_, cases)| self.share(cases, DRAWS));
        [of(all.first()), of(all.last())]
    }

    /// Share of drawn runs in which the test of any case is red.
    fn share(&self, cases: &[Case], draws: usize) -> f64 {
        let mut random = Rng::with_seed(SEED);
        let count = u32::try_from(cases.len()).unwrap_or(u32::MAX);
        let designed = self.lines.iter().zip(cases).map(|(line, case)| (line, case.design.of_case));
        let too_many = self.suite.too_many_failures(designed);
        let red = (0..draws).filter(|_| {
            let (mut repeated, mut failed) = (RepeatedCases::default(), 0);
            cases.iter().any(|case| {
                let (fails, is_red) = self.run(case, &mut repeated, count, &mut random);
                failed += u32::from(fails);
                is_red || case.design.kind == SuiteKind::Capability && failed >= too_many
            })
        });
        red.count() as f64 / draws as f64
    }

    /// Runs a case: whether it fails though it has passed, and whether its test is red for that. `count`: number of cases.
    fn run(
        &self,
        Case { accepted, design, urns, needed }: &Case,
        repeated: &mut RepeatedCases,
        count: u32,
        random: &mut Rng,
    ) -> (bool, bool) {
        let CaseDesign { planned, rule } = design.of_case;
        let reads_baseline = design.kind == SuiteKind::Capability;
        if reads_baseline && accepted.0 == 0 {
            return (false, false);
        }
        let mut urn = Urn::choose(urns, random);
        let (passed, trials) = design.draw(&mut urn, random);
        let fails = match rule {
            Rule::Any => passed == 0,
            Rule::Every | Rule::Mean | Rule::ConfidenceInterval => passed < planned,
        };
        if !fails || !reads_baseline {
            return (fails, fails);
        }
        if passed > 0 {
            return (true, self.suite.is_worse(*accepted, (passed, trials)));
        }
        let Some(missing) = needed.map(|needed| needed.saturating_sub(trials)) else { return (true, false) };
        if missing == 0 || repeated.allowed(design.confirming, count.saturating_mul(planned)) == 0 {
            return (true, missing == 0);
        }
        let further = (1..=missing).find(|_| urn.draw(random));
        repeated.add(further.unwrap_or(missing), further.is_none());
        (true, further.is_none())
    }
}

impl Design {
    /// The same with so many trials, if one of them has to pass and it has fewer.
    fn with_at_least(mut self, trials: u32) -> Self {
        if self.of_case.rule == Rule::Any {
            self.of_case.planned = self.of_case.planned.max(trials);
        }
        self
    }

    /// The planned trials of a case: how many passed, and how many ran.
    fn draw(self, urn: &mut Urn, random: &mut Rng) -> Counts {
        let CaseDesign { planned, rule } = self.of_case;
        let mut passed = 0;
        for trial in 1..=planned {
            passed += u32::from(urn.draw(random));
            let is_decided = match rule {
                Rule::Any => passed > 0,
                Rule::Every => passed < trial,
                Rule::Mean | Rule::ConfidenceInterval => false,
            };
            if is_decided {
                return (passed, trial);
            }
        }
        (passed, planned)
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
        RedBuilds::of_lines(lines, |_| record, confirming).unwrap()
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

    /// The rule of the first case was that of all.
    #[test]
    fn each_case_has_its_own_trials_and_rule() {
        let case = |id: usize, rule, planned| {
            let mut record = record(SuiteKind::Mixed, rule, planned);
            (record.case_id, record.target) = (format!("{id}"), "default".to_owned());
            let name = evalsuite_records::run_directory::CaseDirectoryName::parse(&record.case_id);
            let directory = std::path::PathBuf::new();
            let (trials, other_attempts, of_runs) = (Vec::new(), Vec::new(), Vec::new());
            crate::CaseData { name, directory, record, trials, other_attempts, of_runs }
        };
        // A case that passes in half of its trials, and nine that always pass.
        let mut baseline = Baseline::default();
        baseline.cases = lines(&[(1, 200, 400), (9, 400, 400)]);
        for (id, line) in baseline.cases.iter_mut().enumerate() {
            (line.case, line.target) = (format!("{id}"), "default".to_owned());
        }
        let of = |flaky: (Rule, u32), stable: (Rule, u32)| {
            let case = |id| if id == 0 { case(id, flaky.0, flaky.1) } else { case(id, stable.0, stable.1) };
            let mut shares = [0.0; 2];
            for (share, ids) in shares.iter_mut().zip([(0..10).collect::<Vec<_>>(), (0..10).rev().collect()]) {
                let suite = SuiteData { cases: ids.into_iter().map(case).collect(), ..SuiteData::default() };
                *share = RedBuilds::of(&baseline, &suite, 0).unwrap().share;
            }
            assert!((shares[0] - shares[1]).abs() < 1e-9, "whichever case comes first: {shares:?}");
            shares[0]
        };
        // 1 − 0.5, 0.5⁸, 1 − 0.5⁵.
        assert!((0.4..0.65).contains(&of((Rule::Every, 1), (Rule::Any, 8))));
        assert!(of((Rule::Any, 8), (Rule::Every, 1)) < 0.15);
        assert!(of((Rule::Every, 5), (Rule::Every, 1)) > 0.9);
    }

    #[test]
    fn nothing_is_said_without_results() {
        assert_eq!(RedBuilds::of_lines(&[], |_| unreachable!(), 10), None);
        assert_eq!(RedBuilds::of(&Baseline::default(), &SuiteData::default(), 10), None);
    }
}
