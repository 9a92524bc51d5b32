//! How many trials it takes until a run is decided, and how often it is decided rightly.

use std::fs;
use std::path::Path;

use evalsuite_report::{ChosenCase, DecisionOptions, RunData, plan_decision};
use evalsuite_tests::throwaway::{Call, Package, suites};
use fastrand::Rng;
use serde_json::Value;

use super::agent::Trials;
use super::command::diff;
use super::run_files::{Case, write_run};
use super::tables::{share, simulate};

const MARGIN: f64 = 0.1;

/// A suite whose cases all have one rate in the base, and one in the run.
struct Design {
    rates: [f64; 2],
    cases: usize,
    /// Trials that the files plan.
    planned: usize,
    /// Cases of a cluster, whose outcomes in a trial have a correlation of 0.5.
    cluster: usize,
    /// Whether the number of trials is fixed.
    fixed: bool,
}

const fn design(rates: [f64; 2], cases: usize, planned: usize, cluster: usize, fixed: bool) -> Design {
    Design { rates, cases, planned, cluster, fixed }
}

const DESIGNS: [Design; 12] = [
    design([0.9, 0.8], 30, 10, 1, false),
    design([0.9, 0.9], 30, 10, 1, false),
    design([0.9, 0.8], 100, 3, 1, false),
    design([0.9, 0.9], 100, 3, 1, false),
    design([0.6, 0.5], 50, 10, 1, false),
    design([0.6, 0.6], 50, 10, 1, false),
    design([0.9, 0.8], 60, 10, 3, false),
    design([0.9, 0.9], 60, 10, 3, false),
    design([0.9, 0.8], 30, 10, 1, true),
    design([0.9, 0.9], 30, 10, 1, true),
    design([0.6, 0.5], 50, 10, 1, true),
    design([0.6, 0.6], 50, 10, 1, true),
];

/// The verdict of a run, and its number of trials.
struct Ended {
    verdict: String,
    trials: f64,
}

pub(crate) fn print(simulations: usize) {
    println!(
        "| rates | cases | looks | planned | mean trials | regressed | within the margin |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |"
    );
    for design in &DESIGNS {
        let found = simulate(simulations, |random| of_records(design, random));
        print_row(design, &found);
    }
}

fn print_row(design: &Design, found: &[Ended]) {
    let [base, run] = design.rates;
    let trials = found.iter().map(|ended| ended.trials).sum::<f64>() / found.len() as f64;
    let is = |verdict: &str| share(found, |ended| ended.verdict == verdict);
    let cases = if design.cluster > 1 {
        format!("{} in clusters of {}", design.cases, design.cluster)
    } else {
        design.cases.to_string()
    };
    println!(
        "| {base} → {run} | {cases} | {} | {} | {trials:.0} | {:.1} % | {:.1} % |",
        if design.fixed { "fixed" } else { "bets" },
        design.cases * design.planned,
        is("regressed"),
        is("within_margin"),
    );
}

/// A run with all trials that it could have, as it is read by the command: it says at which of them the run had ended.
fn of_records(design: &Design, random: &mut Rng) -> Ended {
    let output = tempfile::tempdir().expect("a temporary directory");
    let most = if design.fixed { design.planned } else { 2 * design.planned };
    let mut write = |id: &str, rate: f64| {
        let mut cases: Vec<Case> = (0..design.cases).map(|_| Case::new(Vec::new())).collect();
        for _ in 0..most {
            for cluster in cases.chunks_mut(design.cluster) {
                let shared = random.f64();
                for case in cluster {
                    let is_shared = design.cluster > 1 && random.f64() < 0.5_f64.sqrt();
                    case.trials.push(if is_shared { shared } else { random.f64() } < rate);
                }
            }
        }
        write_run(output.path(), id, Trials::All(most), &cases);
    };
    write("base", design.rates[0]);
    write("run", design.rates[1]);
    let run = |id: &str| output.path().join("runs").join(id);
    let base = RunData::read_cases(run("base")).expect("it was written");
    let chosen = |index: usize| {
        let cluster = (design.cluster > 1).then(|| (index / design.cluster).to_string());
        let id = format!("case-{index:03}");
        ChosenCase::new("simulated", "default", id, design.planned as u32).with_cluster(cluster)
    };
    let chosen: Vec<ChosenCase> = (0..design.cases).map(chosen).collect();
    let mut options = DecisionOptions::new(MARGIN);
    options.trials = design.fixed.then_some(design.planned as u32);
    let plan = plan_decision(&base, "base", &chosen, &options, None);
    fs::write(run("run").join("decision.json"), serde_json::to_vec(&plan).expect("a record is JSON"))
        .expect("it can be written");
    ended(&diff(output.path(), &[]).comparison["decision"])
}

fn ended(decision: &Value) -> Ended {
    Ended {
        verdict: decision["verdict"].as_str().expect("there is a decision").to_owned(),
        trials: decision["trials"].as_f64().expect("a number"),
    }
}

/// The same with a real test program, which `run --until-decided` calls for each look: a tenth of the simulations, as each takes seconds.
pub(crate) fn print_rounds(simulations: usize) {
    println!(
        "| rates | cases | looks | planned | mean trials | regressed | within the margin |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |"
    );
    let package = suites::package_with_random_agent("verdicts_rounds", 30);
    for design in [design([0.9, 0.8], 30, 10, 1, false), design([0.9, 0.9], 30, 10, 1, false)] {
        let runs = if simulations == 200 { 20 } else { simulations };
        let found: Vec<Ended> = (0..runs).map(|number| of_program(&package, &design, number)).collect();
        print_row(&design, &found);
    }
}

fn of_program(package: &Package, design: &Design, number: usize) -> Ended {
    let output = tempfile::tempdir().expect("a temporary directory");
    let call = |arguments: &[&str], rate: f64, id: &str, trials: usize| {
        Call::program(Path::new(env!("CARGO_BIN_EXE_cargo-evalsuite")), package)
            .args(["evalsuite", "run"])
            .args(arguments.iter().copied())
            .with_cargo()
            .env("RATE", rate.to_string())
            .env("SEED", format!("{number} {id}"))
            .env("EVALSUITE_OUTPUT", output.path().as_os_str())
            .env("EVALSUITE_AGENT_DIGEST", id)
            .env("EVALSUITE_RUN_ID", id)
            .env("EVALSUITE_TRIALS", trials.to_string())
            .env("EVALSUITE_RUN_ALL", "1")
            .run()
    };
    call(&[], design.rates[0], "base", 2 * design.planned);
    let words = ["--until-decided", "--margin", "10%", "--base", "base", "--format", "json"];
    let done = call(&words, design.rates[1], "run", design.planned);
    let parsed: Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", done.transcript()));
    ended(&parsed["decision"])
}

/// How often a run that is worse by the margin is shown to be within it.
pub(crate) fn within_though_worse(simulations: usize) -> f64 {
    let found = simulate(simulations, |random| of_records(&DESIGNS[0], random));
    share(&found, |ended| ended.verdict == "within_margin")
}
