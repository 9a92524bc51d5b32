//! A baseline over months: runs of one agent, one after another, some of which are accepted.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use evalsuite_records::baseline::{Chance, baseline_file, result_of};
use evalsuite_records::record::{Baseline, CaseRecord, SuiteId};
use evalsuite_schema::SuiteKind;
use fastrand::Rng;

use super::agent::{Rates, Trials};
use super::command::evalsuite;
use super::run_files::{Case, SuiteFiles, write_record};
use super::tables::{repeat_as_accepted, simulate};

/// Cases of the suite.
const CASES: usize = 30;
/// Runs of a history, after the first one, which is always accepted.
const RUNS: usize = 30;

/// Which runs are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    Always,
    WhenGreen,
    Once,
}

const POLICIES: [(&str, Policy); 3] =
    [("always", Policy::Always), ("when green", Policy::WhenGreen), ("once", Policy::Once)];

pub(crate) const POPULATIONS: [(&str, Rates); 6] = [
    ("all 0.98", Rates::All(0.98)),
    ("all 0.9", Rates::All(0.9)),
    ("all 0.5", Rates::All(0.5)),
    ("uniform", Rates::Uniform),
    ("0.85 and 0.3", Rates::EasyAndHard),
    ("stable, 20 % at 0.5", Rates::StableBut(0.2, 0.5)),
];

const DESIGNS: [(&str, Trials); 3] =
    [("3", Trials::All(3)), ("1", Trials::All(1)), ("3, until one passes", Trials::UntilPass(3))];

/// What happened in a history, in numbers of runs.
#[derive(Debug, Clone, Copy, Default)]
struct History {
    /// A test failed.
    red: usize,
    /// `diff --baseline` said *regressed*.
    regressed: usize,
    /// Either.
    either: usize,
    /// A test failed, and the comparison did not say *regressed*.
    contradictions: usize,
    /// Trials that repeated cases, and planned ones.
    repeated: usize,
    planned: usize,
}

/// The package, its runs and its baseline.
pub(crate) struct Suite {
    directory: tempfile::TempDir,
    id: SuiteId,
}

/// A run, and whether a test failed.
pub(crate) struct Ran {
    pub(crate) is_red: bool,
    pub(crate) repeated: usize,
    pub(crate) planned: usize,
}

impl Suite {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let manifest = "[package]\nname = \"simulated\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        fs::write(directory.path().join("Cargo.toml"), manifest).expect("the manifest can be written");
        fs::create_dir(directory.path().join("src")).expect("the directory can be made");
        fs::write(directory.path().join("src/lib.rs"), "").expect("the library can be written");
        Self { directory, id: SuiteId::new("simulated") }
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    fn output(&self) -> std::path::PathBuf {
        self.root().join("out")
    }

    /// Runs the tests of the suite, as a program of kind `kind` does.
    pub(crate) fn run(&self, id: &str, kind: SuiteKind, rates: &[f64], trials: Trials, random: &mut Rng) -> Ran {
        let mut cases: Vec<Case> = rates.iter().map(|rate| Case::new(trials.draw(*rate, random))).collect();
        let file = baseline_file(self.root(), &self.id);
        let planned = cases.len() * trials.planned();
        if let Some(baseline) = fs::read_to_string(&file).ok().map(|text| Baseline::parse(&text).expect("a baseline")) {
            repeat_as_accepted(&baseline.cases, &mut cases, rates, random);
        }
        let failed = Cell::new(0);
        let judge = |record: &mut CaseRecord| {
            record.kind = kind;
            if kind == SuiteKind::Capability {
                let chance = || {
                    failed.set(failed.get() + 1);
                    Ok(Chance::WithFailures(failed.get()))
                };
                record.baseline = result_of(&file, record, chance, |_| None).expect("a baseline");
            }
        };
        let output = self.output();
        let files = SuiteFiles { output: &output, id, name: "simulated", package: "simulated" };
        let records = files.write(trials, &cases, judge);
        write_record(&output, id, None, &["simulated"]);
        Ran {
            is_red: records.iter().any(CaseRecord::fails_test),
            repeated: cases.iter().map(|case| case.confirming.len()).sum(),
            planned,
        }
    }

    /// What the command prints, and its exit status.
    pub(crate) fn evalsuite(&self, arguments: &[&str]) -> (String, i32) {
        evalsuite(self.root(), &self.output(), arguments)
    }

    /// Whether the comparison with the baseline says *regressed*.
    pub(crate) fn has_regressed(&self, id: &str) -> bool {
        let (said, status) = self.evalsuite(&["diff", "--baseline", id]);
        assert!([0, 1, 4].contains(&status), "{said}");
        status == 1
    }

    /// What `accept` forecasts, and the ends of its range, as shares.
    pub(crate) fn accept(&self, id: &str) -> [f64; 3] {
        let (said, status) = self.evalsuite(&["accept", id]);
        assert_eq!(status, 0, "{said}");
        let line = said.split("an unchanged agent fails ").nth(1).and_then(|text| text.split(['\n', ';']).next());
        let (share, range) = line.expect("a forecast").split_once("of runs").expect("a forecast");
        let percent = |text: &str| match text.trim_matches(|it: char| !it.is_ascii_digit()).parse::<f64>() {
            Ok(1.0) if text.starts_with("less") => 0.3,
            Ok(number) => number,
            Err(error) => panic!("{text}: {error}"),
        };
        let share = percent(share);
        let [low, high] = match range.split_once(" to ") {
            Some((low, high)) => [percent(low), percent(high)],
            None if range.contains("at most") => [0.0, percent(range)],
            None => [share; 2],
        };
        [share, low, high].map(|percent| percent / 100.0)
    }
}

fn history(rates: Rates, trials: Trials, policy: Policy, random: &mut Rng) -> History {
    let suite = Suite::new();
    let rates = rates.draw(CASES, random);
    suite.run("000", SuiteKind::Capability, &rates, trials, random);
    suite.accept("000");
    let mut history = History::default();
    for number in 1..=RUNS {
        let id = format!("{number:03}");
        let ran = suite.run(&id, SuiteKind::Capability, &rates, trials, random);
        let regressed = suite.has_regressed(&id);
        history.red += usize::from(ran.is_red);
        history.regressed += usize::from(regressed);
        history.either += usize::from(ran.is_red || regressed);
        history.contradictions += usize::from(ran.is_red && !regressed);
        history.repeated += ran.repeated;
        history.planned += ran.planned;
        if policy == Policy::Always || policy == Policy::WhenGreen && !ran.is_red && !regressed {
            suite.accept(&id);
        }
        // What is accepted is in the baseline, and no other run is of a commit.
        fs::remove_dir_all(suite.output().join("runs").join(&id)).expect("the run can be removed");
    }
    history
}

pub(crate) fn print(simulations: usize) {
    println!(
        "| rates | trials | accepted | red or regressed | red | regressed | red, not regressed | further trials |"
    );
    println!("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |");
    // A history is thirty comparisons.
    let histories = simulations.div_ceil(10);
    for (label, trials) in DESIGNS {
        for (name, rates) in POPULATIONS {
            for (policy_name, policy) in POLICIES {
                let all = simulate(histories, |random| history(rates, trials, policy, random));
                let sum = |of: fn(&History) -> usize| all.iter().map(of).sum::<usize>() as f64;
                let share = |of: fn(&History) -> usize| 100.0 * sum(of) / (histories * RUNS) as f64;
                println!(
                    "| {name} | {label} | {policy_name} | {:.1} % | {:.1} % | {:.1} % | {:.0} | {:.1} % |",
                    share(|it| it.either),
                    share(|it| it.red),
                    share(|it| it.regressed),
                    sum(|it| it.contradictions),
                    100.0 * sum(|it| it.repeated) / sum(|it| it.planned),
                );
            }
        }
    }
}

/// The worst suites for a baseline of one accepted run: trials, cases, and how many of them pass with which rate. The others always pass.
const LUCKY: [(usize, usize, usize, f64); 7] = [
    (1, 5, 1, 0.125),
    (1, 30, 1, 0.1),
    (1, 30, 5, 0.05),
    (2, 10, 1, 0.4),
    (2, 30, 5, 0.25),
    (3, 30, 5, 0.4),
    (5, 30, 5, 0.4),
];

/// Runs of one agent after a run that was accepted.
pub(crate) fn print_lucky(simulations: usize) {
    println!(
        "| trials | cases | of them unstable | with the rate | red | regressed |\n| ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    for (trials, count, unstable, rate) in LUCKY {
        let all = simulate(simulations, |random| {
            let suite = Suite::new();
            let mut rates = vec![1.0; count];
            rates[..unstable].fill(rate);
            suite.run("000", SuiteKind::Capability, &rates, Trials::All(trials), random);
            suite.accept("000");
            let is_red = suite.run("001", SuiteKind::Capability, &rates, Trials::All(trials), random).is_red;
            [is_red, suite.has_regressed("001")]
        });
        let share = |index: usize| super::tables::share(&all, |it| it[index]);
        println!("| {trials} | {count} | {unstable} | {rate} | {:.1} % | {:.1} % |", share(0), share(1));
    }
}

/// The forecast of `accept`, and the share of red runs, by kind of suite.
pub(crate) fn print_forecasts(simulations: usize) {
    println!("| kind | rates | trials | forecast | range | red |\n| --- | --- | --- | ---: | ---: | ---: |");
    for (kind_name, kind) in [("capability", SuiteKind::Capability), ("regression", SuiteKind::Regression)] {
        for (name, rates) in super::agent::POPULATIONS {
            for (label, trials) in DESIGNS.into_iter().chain([("3, until one fails", Trials::UntilFailure(3))]) {
                let all = simulate(simulations, |random| {
                    let suite = Suite::new();
                    let rates = rates.draw(CASES, random);
                    suite.run("000", kind, &rates, trials, random);
                    let forecast = suite.accept("000");
                    let red = (0..20).filter(|_| suite.run("001", kind, &rates, trials, random).is_red).count();
                    let [share, low, high] = forecast;
                    [share, low, high, red as f64 / 20.0]
                });
                let mean = |index: usize| 100.0 * all.iter().map(|it| it[index]).sum::<f64>() / all.len() as f64;
                let [share, low, high, red] = [0, 1, 2, 3].map(mean);
                println!("| {kind_name} | {name} | {label} | {share:.1} % | {low:.1} to {high:.1} % | {red:.1} % |");
            }
        }
    }
}

/// A case that always passed breaks, after so many accepted runs: how often its test fails in the first run, and the trials of it.
pub(crate) fn print_broken(simulations: usize) {
    println!(
        "| rates of the other cases | trials | accepted runs | test fails | regressed |\n| --- | --- | ---: | ---: | ---: |"
    );
    for (name, rates) in [("always 1", Rates::All(1.0))].into_iter().chain(POPULATIONS) {
        for trials in [Trials::All(1), Trials::All(2), Trials::All(3), Trials::UntilPass(3), Trials::All(5)] {
            for accepted in [1, 3] {
                let all = simulate(simulations, |random| broken(rates, trials, accepted, random));
                let share = |of: fn(&(bool, bool)) -> bool| super::tables::share(&all, of);
                println!(
                    "| {name} | {trials:?} | {accepted} | {:.1} % | {:.1} % |",
                    share(|it| it.0),
                    share(|it| it.1)
                );
            }
        }
    }
}

/// Whether the test of a case fails that has always passed and breaks, and whether the run has regressed.
fn broken(rates: Rates, trials: Trials, accepted: usize, random: &mut Rng) -> (bool, bool) {
    let suite = Suite::new();
    let mut rates = rates.draw(CASES, random);
    rates[7] = 1.0;
    for number in 0..accepted {
        let id = format!("{number:03}");
        suite.run(&id, SuiteKind::Capability, &rates, trials, random);
        suite.accept(&id);
    }
    rates[7] = 0.0;
    let ran = suite.run("broken", SuiteKind::Capability, &rates, trials, random);
    (ran.is_red, suite.has_regressed("broken"))
}

/// How often a fall is found in the first run, after a case that always failed, or the whole agent, became better and was accepted.
pub(crate) fn print_risen(simulations: usize) {
    println!("| trials | a case: held to | its fall fails its test | all cases 0.5 to 0.9: the fall is *regressed* |");
    println!("| --- | ---: | ---: | ---: |");
    for (label, trials) in DESIGNS {
        let all = simulate(simulations, |random| {
            let risen = |before: &[f64], after: &[f64], random: &mut Rng| {
                let suite = Suite::new();
                for number in 0..6 {
                    let id = format!("{number:03}");
                    suite.run(&id, SuiteKind::Capability, if number < 3 { before } else { after }, trials, random);
                    suite.accept(&id);
                }
                suite
            };
            let mut rates = Rates::All(0.9).draw(CASES, random);
            rates[7] = 0.0;
            let mut better = rates.clone();
            better[7] = 1.0;
            let suite = risen(&rates, &better, random);
            let text = fs::read_to_string(baseline_file(suite.root(), &suite.id)).expect("a baseline");
            let line = &Baseline::parse(&text).expect("a baseline").cases[7];
            let is_held = line.passed > 0;
            let fails = suite.run("fallen", SuiteKind::Capability, &rates, trials, random).is_red;
            let suite = risen(&[0.5; CASES], &[0.9; CASES], random);
            suite.run("fallen", SuiteKind::Capability, &[0.5; CASES], trials, random);
            [is_held, fails, suite.has_regressed("fallen")]
        });
        let share = |index: usize| super::tables::share(&all, |it| it[index]);
        println!("| {label} | {:.1} % | {:.1} % | {:.1} % |", share(0), share(1), share(2));
    }
}

/// Share of the runs of a history that are red or *regressed*, of a tenth as many histories.
pub(crate) fn red_or_regressed(simulations: usize) -> f64 {
    let histories = simulations.div_ceil(10);
    let all = simulate(histories, |random| history(Rates::All(0.9), Trials::All(3), Policy::Always, random));
    100.0 * all.iter().map(|history| history.either).sum::<usize>() as f64 / (histories * RUNS) as f64
}

/// How often the test of a case fails that has always passed, and breaks.
pub(crate) fn found_broken(simulations: usize) -> f64 {
    let all = simulate(simulations, |random| broken(Rates::All(0.9), Trials::All(2), 1, random));
    super::tables::share(&all, |(fails, _)| *fails)
}
