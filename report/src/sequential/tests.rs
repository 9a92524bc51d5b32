//! How often a run that did not change is decided falsely, at the worst moment to stop, and how many trials it takes; and what records decide:
//! which trials are compared, which looks follow, and what an earlier run adds.

use evalsuite_records::record::{CaseRecord, DecisionRecord, Status, TrialSummary};
use evalsuite_records::run_directory::CaseDirectoryName;
use evalsuite_records::trial_statistics::binomial;
use fastrand::Rng;

use super::looks::{Design, Looks, Observation, Observed, Spending, Verdict, batches};
use crate::comparison::{CompareOptions, Comparison, pooled};
use crate::run_data::{CaseData, RunData, SuiteData};
use crate::sequential::{ChosenCase, DecisionOptions, DecisionVerdict, RunDecision, plan_decision, usual_trials};

/// The rate of the case with this index, of `CASES`, in base and run.
type Rates = fn(usize) -> [f64; 2];

struct Population {
    name: &'static str,
    rates: Rates,
    /// Cases of a cluster, half of which have the same outcome.
    cluster: usize,
}

const CASES: usize = 24;
const MARGIN: f64 = 0.1;

/// None is worse than its base on average.
const POPULATIONS: [Population; 9] = [
    Population { name: "all 0.9", rates: |_| [0.9, 0.9], cluster: 1 },
    Population { name: "all 0.6", rates: |_| [0.6, 0.6], cluster: 1 },
    Population { name: "all 0.98", rates: |_| [0.98, 0.98], cluster: 1 },
    Population { name: "mixed", rates: |case| [case as f64 / 23.0; 2], cluster: 1 },
    Population { name: "clusters", rates: |_| [0.9, 0.9], cluster: 3 },
    Population { name: "half better, half worse", rates: |case| [[0.3, 0.7], [0.7, 0.3]][case % 2], cluster: 1 },
    Population { name: "always better or worse", rates: |case| [[0.0, 1.0], [1.0, 0.0]][case % 2], cluster: 1 },
    Population { name: "few lose all, others win", rates: few_lose_all, cluster: 1 },
    Population { name: "few win all, others lose", rates: few_win_all, cluster: 1 },
];

fn few_lose_all(case: usize) -> [f64; 2] {
    if case < 2 { [1.0, 0.0] } else { [0.5, 0.5 + 2.0 / 22.0] }
}

fn few_win_all(case: usize) -> [f64; 2] {
    few_lose_all(case).map(|rate| 1.0 - rate)
}

fn design(level: f64) -> Design {
    Design { margin: MARGIN, level, mean_weight: 1.0, mean_square_weight: 1.0, fixed: None, before: [0.0; 2] }
}

/// Outcomes of a round, in random order, in which the rates of the run are lower than they are in the population: on average by `lowered`.
fn round(population: &Population, lowered: f64, random: &mut Rng) -> Vec<Observation> {
    let mean = (0..CASES).map(|case| (population.rates)(case)[1]).sum::<f64>() / CASES as f64;
    let mut units: Vec<Observation> = (0..CASES / population.cluster)
        .map(|unit| {
            let mut sum = 0.0;
            let shared = [random.f64(), random.f64()];
            for case in 0..population.cluster {
                let [base, run] = (population.rates)(unit * population.cluster + case);
                let rates = [base, run * (1.0 - lowered / mean)];
                let outcome = |side: usize, random: &mut Rng| {
                    let is_shared = population.cluster > 1 && random.f64() < 0.5_f64.sqrt();
                    let drawn = if is_shared { shared[side] } else { random.f64() };
                    f64::from(u8::from(drawn < rates[side]))
                };
                sum += outcome(1, random) - outcome(0, random);
            }
            let difference = sum / population.cluster as f64;
            Observation { lower: difference, upper: difference, weight: 1.0 }
        })
        .collect();
    random.shuffle(&mut units);
    units
}

/// Shares of paths that are called regressed and within the margin, by `rounds` with a look after every case.
fn rates_of_decisions(population: &Population, lowered: f64, paths: usize, rounds: usize) -> [f64; 2] {
    let mut random = Rng::with_seed(7);
    let mut counts = [0_usize; 2];
    for _ in 0..paths {
        // Each evidence by itself: a decision for the other one would hide it.
        let mut looks = Looks::new(design(0.045));
        let mut is_beyond = [false; 2];
        for _ in 0..rounds {
            for observation in round(population, lowered, &mut random) {
                looks.look(&[observation]);
                let logs = looks.log_e_values().expect("bets have e-values");
                is_beyond[0] |= logs[0] >= -0.045_f64.ln();
                is_beyond[1] |= logs[1] >= -0.05_f64.ln();
            }
            looks.end_round();
        }
        counts.iter_mut().zip(is_beyond).for_each(|(count, beyond)| *count += usize::from(beyond));
    }
    counts.map(|count| count as f64 / paths as f64)
}

/// Number of paths: few in the gate.
fn paths() -> usize {
    std::env::var("SEQUENTIAL_PATHS").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

#[test]
fn an_agent_that_has_not_changed_is_seldom_regressed_at_the_worst_moment() {
    let paths = paths();
    // Three standard errors above.
    let most = |rate: f64| rate + 3.0 * (rate * (1.0 - rate) / paths as f64).sqrt();
    for population in &POPULATIONS {
        let [regressed, _] = rates_of_decisions(population, 0.0, paths, 20);
        assert!(regressed <= most(0.045), "{}: regressed in {regressed}", population.name);
        if paths > 400 {
            println!("{}: regressed in {:.2} %", population.name, 100.0 * regressed);
        }
    }
}

#[test]
fn an_agent_that_is_worse_by_the_margin_is_seldom_shown_to_be_within_it_at_the_worst_moment() {
    let paths = paths();
    let most = |rate: f64| rate + 3.0 * (rate * (1.0 - rate) / paths as f64).sqrt();
    for population in &POPULATIONS {
        let [_, within] = rates_of_decisions(population, MARGIN, paths, 20);
        assert!(within <= most(0.05), "{}: within the margin in {within}", population.name);
        if paths > 400 {
            println!("{}: within the margin in {:.2} %", population.name, 100.0 * within);
        }
    }
}

/// Mean number of trials, and shares of paths that are regressed and within the margin.
fn cost(rates: [f64; 2], planned: usize, cases: usize, cluster: usize, fixed: bool, paths: usize) -> (f64, [f64; 2]) {
    let mut random = Rng::with_seed(3);
    let (mut trials, mut counts) = (0, [0_usize; 2]);
    let units = cases / cluster;
    let observations = planned / cluster;
    for _ in 0..paths {
        let mut looks = Looks::new(Design { fixed: fixed.then_some(observations), ..design(0.045) });
        let mut spent = 0;
        let most = if fixed { planned } else { 2 * planned };
        'path: while spent < most {
            let mut round: Vec<Observation> = Vec::new();
            for _ in 0..units {
                let mut draw = |rate: f64| {
                    let shared = random.f64();
                    let outcome = |random: &mut Rng| {
                        let is_shared = cluster > 1 && random.f64() < 0.5_f64.sqrt();
                        f64::from(u8::from(if is_shared { shared } else { random.f64() } < rate))
                    };
                    (0..cluster).map(|_| outcome(&mut random)).sum::<f64>() / cluster as f64
                };
                let difference = draw(rates[1]) - draw(rates[0]);
                round.push(Observation { lower: difference, upper: difference, weight: 1.0 });
            }
            for batch in round.chunks(units.div_ceil(batches(cases, units, planned))) {
                spent += batch.len() * cluster;
                if looks.look(batch) != Verdict::Undecided {
                    break 'path;
                }
            }
            looks.end_round();
        }
        trials += spent;
        match looks.verdict() {
            Verdict::Regressed => counts[0] += 1,
            Verdict::Within => counts[1] += 1,
            Verdict::Undecided => {}
        }
    }
    (trials as f64 / paths as f64, counts.map(|count| count as f64 / paths as f64))
}

#[test]
fn it_takes_fewer_trials_than_a_fixed_number() {
    let designs = [
        ([0.9, 0.8], 300, 30, 1, 184.0),
        ([0.9, 0.9], 300, 30, 1, 137.0),
        ([0.6, 0.5], 500, 50, 1, 364.0),
        ([0.6, 0.6], 500, 50, 1, 371.0),
        ([0.9, 0.8], 600, 60, 3, 378.0),
        ([0.9, 0.9], 600, 60, 3, 316.0),
    ];
    for (rates, planned, cases, cluster, expected) in designs {
        let (trials, [regressed, within]) = cost(rates, planned, cases, cluster, false, 500);
        assert!(trials <= 1.1 * expected, "{rates:?}: {trials} trials, expected are {expected}");
        let right = if rates[0] > rates[1] { regressed } else { within };
        assert!(right >= 0.9, "{rates:?}: decided rightly in {right}");
    }
}

#[test]
fn of_a_fixed_number_looks_take_fewer_and_decide() {
    // The bench has their rates.
    let (trials, [regressed, within]) = cost([0.9, 0.9], 300, 30, 1, true, 25);
    assert!(trials < 290.0 && regressed <= 0.2 && within >= 0.75, "{trials} {regressed} {within}");
    let (trials, [regressed, within]) = cost([0.9, 0.7], 300, 30, 1, true, 25);
    assert!(trials < 200.0 && regressed == 1.0 && within == 0.0, "{trials} {regressed} {within}");
}

/// Values of an observation, and their probabilities.
type Outcomes = [(f64, f64); 3];

/// The probability that the sum of so many rounds of cases is beyond its boundary at a look, and thus shows something at this level: all numbers of
/// the three outcomes are enumerated.
fn chance_of_decision(observed: Observed, level: f64, [cases, rounds]: [usize; 2], outcomes: Outcomes) -> f64 {
    let all = cases * rounds;
    let batch = cases.div_ceil(batches(cases, cases, all));
    let mut spending = Spending::new(level);
    let index = |first: usize, last: usize| first * (all + 1) + last;
    // The observations that have not decided, and how probable they are, by how many have the first and the last value.
    let mut open = vec![(observed, 0.0); (all + 1) * (all + 1)];
    open[0].1 = 1.0;
    let mut decided = 0.0;
    for count in 1..=all {
        let mut next = vec![(observed, 0.0); open.len()];
        for (first, last) in (0..count).flat_map(|first| (0..count - first).map(move |last| (first, last))) {
            let (before, chance) = open[index(first, last)];
            let to = [(first + 1, last), (first, last), (first, last + 1)];
            for ((value, probability), (first, last)) in outcomes.into_iter().zip(to) {
                let entry = &mut next[index(first, last)];
                entry.0 = before;
                entry.0.add(value);
                entry.1 += chance * probability;
            }
        }
        if count % cases % batch == 0 {
            let boundary = spending.boundary(count as f64 / all as f64);
            for entry in next.iter_mut().filter(|entry| entry.1 > 0.0 && entry.0.is_beyond(boundary)) {
                decided += std::mem::take(&mut entry.1);
            }
        }
        open = next;
    }
    decided
}

/// Cases and rounds.
const FIXED: [[usize; 2]; 5] = [[6, 3], [6, 5], [15, 3], [20, 1], [30, 2]];

/// Differences of scores of 0 and 1 that are `margin` more, of a case that passes with these probabilities in base and run.
fn of_rates([base, run]: [f64; 2], margin: f64, sign: f64) -> Outcomes {
    let (better, worse) = (run * (1.0 - base), base * (1.0 - run));
    [(sign + margin, better), (margin, 1.0 - better - worse), (margin - sign, worse)]
}

/// A large loss that is seldom, and small gains that make up for it.
fn seldom(loss: f64, share: f64) -> Outcomes {
    [(loss * share / (1.0 - share), 1.0 - share), (0.0, 0.0), (-loss, share)]
}

#[test]
fn of_a_fixed_number_what_has_not_changed_is_seldom_regressed() {
    for (level, design) in [0.045, 0.009].into_iter().flat_map(|level| FIXED.map(|design| (level, design))) {
        let rates = [0.99, 0.9, 0.8, 0.5].map(|rate| of_rates([rate; 2], 0.0, -1.0));
        // All trials of a case end as they did not in the base, or scores differ by fractions.
        let others = [[(1.0, 0.5), (0.0, 0.0), (-1.0, 0.5)], [(0.25, 0.4), (0.0, 0.2), (-0.25, 0.4)]];
        let seldom = [0.05, 0.2, 0.3].map(|share| seldom(1.0, share));
        for outcomes in rates.into_iter().chain(others).chain(seldom) {
            let found = chance_of_decision(Observed::worse(), level, design, outcomes);
            assert!(found <= level, "{design:?} at {level}: {outcomes:?} is regressed in {found}");
        }
    }
}

/// It took 1.4 to 1.9 times the losses of a sign test to show one: observations of the lowest value were added, as if scores were skewed.
#[test]
fn of_a_fixed_number_a_loss_is_regressed_nearly_as_often_as_one_look_would_find_it() {
    let designs = [([20, 1], 0.3, 0.0), ([30, 1], 0.2, 0.0), ([10, 3], 0.2, 0.0), ([30, 3], 0.1, 0.06)];
    for (design, loss, cost_of_looks) in designs {
        let found = chance_of_decision(Observed::worse(), 0.045, design, of_rates([1.0, 1.0 - loss], 0.0, -1.0));
        // Five losses without a gain have a probability of 1/32.
        let one_look: f64 = binomial((design[0] * design[1]) as u32, loss).skip(5).sum();
        assert!(
            found >= one_look - cost_of_looks - 1e-9,
            "{design:?}, a loss of {loss}: {found}, one look has {one_look}"
        );
    }
}

/// As long as no trial failed, the observations had almost no spread, and any mean of theirs was within the margin: six cases that lost as
/// much as the margin were so in 15 % of runs.
#[test]
fn of_a_fixed_number_a_loss_that_is_seldom_seen_is_not_within_the_margin() {
    for (margin, design) in [0.05, 0.1, 0.2].into_iter().flat_map(|margin| FIXED.map(|design| (margin, design))) {
        let rates = [1.0, 0.95, 0.8, 0.5].map(|rate| of_rates([rate, rate - margin], margin, 1.0));
        let seldom = [0.05, 0.2, 0.3].map(|share| seldom(1.0 - margin, share));
        for outcomes in rates.into_iter().chain(seldom) {
            let found = chance_of_decision(Observed::within(margin), 0.05, design, outcomes);
            assert!(found <= 0.05, "{design:?}, margin {margin}: {outcomes:?} is within it in {found}");
        }
    }
    let same = chance_of_decision(Observed::within(0.1), 0.05, [15, 3], of_rates([1.0, 1.0], 0.1, 1.0));
    assert!(same > 0.99, "a run that is the same is within the margin after 45 trials: {same}");
}

#[test]
fn an_error_counts_for_neither() {
    let mut looks = Looks::new(design(0.045));
    let error = Observation { lower: -1.0, upper: 0.0, weight: 1.0 };
    for _ in 0..100 {
        looks.look(&[error; 10]);
        looks.end_round();
    }
    assert_eq!(looks.verdict(), Verdict::Undecided);
}

#[test]
fn an_earlier_run_that_decided_has_decided() {
    let decided = Looks::new(Design { before: [4.0, -2.0], ..design(0.045) });
    assert_eq!(decided.verdict(), Verdict::Regressed);
    let again = Looks::new(Design { before: [2.0, -2.0], ..design(0.045) });
    assert_eq!(again.verdict(), Verdict::Undecided);
}

#[test]
fn a_large_round_is_looked_at_in_batches() {
    assert_eq!([batches(30, 30, 300), batches(100, 100, 300), batches(300, 300, 300)], [2, 7, 20]);
    assert_eq!([batches(6, 6, 18), batches(60, 20, 600), batches(10, 10, 20)], [1, 2, 1]);
}

/// A run in which each case has these trials: `P`, `F` or `E`.
fn run(id: &str, trials: &[&str]) -> RunData {
    let case = |(index, trials): (usize, &&str)| {
        let mut record = CaseRecord::new();
        (record.suite, record.target) = ("shop".to_owned(), "default".to_owned());
        record.case_id = format!("c{index:02}");
        record.completed = trials.chars().filter(|trial| *trial != 'E').count() as u32;
        record.outcome = if trials.is_empty() { Status::Skipped } else { Status::Passed };
        record.trials = trials.chars().map(trial).collect();
        let name = CaseDirectoryName::parse(&record.case_id);
        CaseData {
            name,
            directory: Default::default(),
            record,
            trials: Vec::new(),
            other_attempts: Vec::new(),
            of_runs: Vec::new(),
        }
    };
    let cases = trials.iter().enumerate().map(case).collect();
    let suites = vec![SuiteData { name: "shop".to_owned(), cases, ..SuiteData::default() }];
    RunData { run_id: id.to_owned(), suites, ..RunData::default() }
}

fn trial(outcome: char) -> TrialSummary {
    let mut trial = TrialSummary::default();
    (trial.outcome, trial.score) = match outcome {
        'P' => (Status::Passed, Some(1.0)),
        'F' => (Status::Failed, Some(0.0)),
        _ => (Status::Error, None),
    };
    trial
}

fn chosen(count: usize) -> Vec<ChosenCase> {
    (0..count).map(|index| ChosenCase::new("shop", "default", format!("c{index:02}"), 2)).collect()
}

fn plan(base: &RunData) -> DecisionRecord {
    plan_decision(base, "base", &chosen(base.suites[0].cases.len()), &DecisionOptions::new(0.2), None)
}

#[test]
fn the_next_look_needs_the_trials_that_are_missing() {
    let plan = plan(&run("base", &["PPPPPP"; 12]));
    assert_eq!((plan.suites[0].rounds, plan.suites[0].batches), (4, 1), "twice the two planned trials, not all six");
    let next = |trials: &[&str]| RunDecision::with(&plan, &run("run", trials)).suites[0].next.clone();
    let first = next(&[]).expect("there is a first round");
    assert_eq!((first.trials, first.cases.len()), (1, 12));
    let mut trials = ["P"; 12];
    trials[4] = "PP";
    let second = next(&trials).expect("nothing is decided");
    assert_eq!((second.trials, second.cases.len()), (2, 11));
    let decision = RunDecision::with(&plan, &run("run", &trials));
    assert_eq!((decision.trials, decision.verdict), (12, DecisionVerdict::Undecided), "half a round is not looked at");
    let done = RunDecision::with(&plan, &run("run", &["PPPP"; 12]));
    assert_eq!((done.verdict, done.trials, done.left), (DecisionVerdict::WithinMargin, 24, 48), "{done}");
    assert_eq!(done, RunDecision::with(&plan, &run("run", &["PP"; 12])), "trials after the decision do not count");
}

#[test]
fn a_case_that_cannot_be_compared_is_left_out_and_many_decide_nothing() {
    let plan = plan(&run("base", &["PPPP"; 12]));
    let mut trials = ["PPPP"; 12];
    trials[3] = "";
    let one = RunDecision::with(&plan, &run("run", &trials));
    assert_eq!(
        (one.verdict, one.suites[0].left_out.as_slice()),
        (DecisionVerdict::WithinMargin, &["c03".to_owned()][..])
    );
    trials[5] = "";
    assert_eq!(RunDecision::with(&plan, &run("run", &trials)).verdict, DecisionVerdict::Undecided);
    let errors = RunDecision::with(&plan, &run("run", &["EEEE"; 12]));
    assert_eq!((errors.verdict, errors.trials), (DecisionVerdict::Undecided, 12), "errors do not go on for ever");
}

#[test]
fn a_rerun_counts_what_came_before_and_uses_no_trial_of_the_base_twice() {
    let base = run("base", &["PFPFPP"; 12]);
    let options = DecisionOptions::new(0.02);
    let first_plan = plan_decision(&base, "base", &chosen(12), &options, None);
    let mut first_run = run("first", &["PFPF"; 12]);
    let first = RunDecision::with(&first_plan, &first_run);
    let again = plan_decision(&base, "base", &chosen(12), &options, Some((&first_plan, &first)));
    assert_eq!((again.continues.as_slice(), again.suites[0].used), (&["first".to_owned()][..], first.suites[0].used));
    assert_eq!(Some(again.suites[0].before), first.suites[0].log_e_values);
    assert_eq!(again.suites[0].cases[0].base, [1.0, 1.0], "four of six are used");
    let changed = run("base", &["PFPFPF"; 12]);
    let other = plan_decision(&changed, "base", &chosen(12), &options, Some((&first_plan, &first)));
    assert!(other.continues.is_empty() && other.suites[0].used == 0, "another base has other trials");
    first_run.suites[0].cases.clear();
    assert!(RunDecision::of(&first_run).is_none(), "without a plan there is no decision");
}

#[test]
fn of_a_base_whose_trials_end_early_only_the_first_one_counts() {
    let mut base = run("base", &["PPP"; 12]);
    base.suites[0].cases.iter_mut().for_each(|case| case.record.stops_early = true);
    let plan = plan(&base);
    assert_eq!((plan.suites[0].rounds, plan.suites[0].cases[0].base.len()), (1, 1));
    assert!(usual_trials(&plan.suites[0], 0.2) > 12, "one trial each is too few");
}

/// A case was compared in as many rounds as it had trials in the base: two that always pass now were missing in the later rounds, in which the
/// others, which pass less often, showed a loss that the cases together do not have.
#[test]
fn a_case_with_fewer_trials_in_the_base_than_others_is_left_out() {
    let trials = |few: &'static str, many: &'static str| [[few; 2].as_slice(), &[many; 22]].concat();
    let base = run("base", &trials("FF", "PPPPPPPP"));
    let plan = plan(&base);
    let ids: Vec<&str> = plan.suites[0].cases.iter().map(|case| case.case_id.as_str()).collect();
    assert_eq!((ids.len(), ids.contains(&"c00"), plan.suites[0].rounds), (22, false, 4));
    let every = run("base", &trials("FFFF", "PPPPPPPP"));
    let plan = plan_decision(&every, "base", &chosen(24), &DecisionOptions::new(0.02), None);
    assert_eq!((plan.suites[0].cases.len(), plan.suites[0].rounds), (24, 4), "four are compared");
    let first = RunDecision::with(&plan, &run("run", &["PPPP"; 24]));
    let again = plan_decision(&every, "base", &chosen(24), &DecisionOptions::new(0.02), Some((&plan, &first)));
    assert_eq!((first.verdict, first.left, again.suites[0].rounds), (DecisionVerdict::Undecided, 0, 0));
}

/// The trials of the other runs of a commit were compared with the first ones of the base, in place of those that the run had compared.
#[test]
fn a_run_decides_by_its_own_trials_also_where_others_are_counted_with_it() {
    let named = |id: &str, trials: &[&str]| {
        let mut run = run(id, trials);
        run.suites[0].cases.iter_mut().for_each(|case| case.record.run_id = id.to_owned());
        run
    };
    let mut decided = named("decided", &["FFFF"; 12]);
    let plan = plan(&run("base", &["PPPPPP"; 12]));
    decided.decision = Some(plan.clone());
    let alone = RunDecision::of(&decided).expect("it decides");
    assert_eq!(alone.verdict, DecisionVerdict::Regressed);
    let counted = pooled(vec![named("other", &["PPPP"; 12]), decided]);
    assert_eq!(counted.suites[0].cases[0].record.completed, 8, "both are counted");
    let comparison = Comparison::new(&run("base", &["PPPPPP"; 12]), &counted, &CompareOptions::new());
    assert_eq!(RunDecision::of(&counted), Some(alone.clone()));
    assert_eq!(comparison.decision, Some(alone));
}
