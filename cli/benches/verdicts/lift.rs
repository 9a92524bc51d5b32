//! How often the gate `lift > 0` is met, for skills whose effect is known.

use evalsuite_records::record::CaseRecord;
use fastrand::Rng;

use super::agent::{Rates, Trials};
use super::command::gate_status;
use super::run_files::{Case, SuiteFiles, write_record};
use super::tables::{share, simulate};

/// Cases of a suite, and trials of each in each arm.
const SIZES: [(usize, usize); 4] = [(8, 3), (20, 1), (20, 3), (50, 3)];

const POPULATIONS: [(&str, Rates); 3] =
    [("any rate", Rates::Uniform), ("all 0.5", Rates::All(0.5)), ("1 or 0", Rates::PassOrFail)];

/// How a skill changes the rate of a case.
struct Skill {
    name: &'static str,
    effect: fn(f64, &mut Rng) -> f64,
}

/// Skills that have no effect on the mean, and skills that have one.
const SKILLS: [Skill; 5] = [
    Skill { name: "no effect", effect: |rate, _| rate },
    Skill {
        name: "±0.3 by case, none on the mean",
        effect: |rate, random| (rate + either(0.3, random)).clamp(0.0, 1.0),
    },
    Skill { name: "+0.4", effect: |rate, _| (rate + 0.4).min(1.0) },
    Skill { name: "+0.2", effect: |rate, _| (rate + 0.2).min(1.0) },
    Skill {
        name: "a third of the cases always pass",
        effect: |rate, random| if random.f64() < 1.0 / 3.0 { 1.0 } else { rate },
    },
];

fn either(change: f64, random: &mut Rng) -> f64 {
    if random.bool() { change } else { -change }
}

pub(crate) fn print(simulations: usize) {
    println!("| skill | cases without it | cases | trials | met | missed | undecided |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for Skill { name, effect } in &SKILLS {
        for (population, rates) in POPULATIONS {
            // The ends of the scale would turn a change of the mean into one.
            if name.starts_with('±') && rates != Rates::All(0.5) {
                continue;
            }
            for (cases, trials) in SIZES {
                let found = simulate(simulations, |random| gate(*effect, rates, cases, trials, random));
                let of = |status: i32| share(&found, |found| *found == status);
                let (met, missed, undecided) = (of(0), of(1), of(4));
                println!(
                    "| {name} | {population} | {cases} | {trials} | {met:.1} % | {missed:.1} % | {undecided:.1} % |"
                );
            }
        }
    }
}

/// The exit status of the command for a run of two arms.
fn gate(effect: fn(f64, &mut Rng) -> f64, rates: Rates, cases: usize, trials: usize, random: &mut Rng) -> i32 {
    let output = tempfile::tempdir().expect("a temporary directory");
    let trials = Trials::All(trials);
    let without = rates.draw(cases, random);
    let with: Vec<f64> = without.iter().map(|rate| effect(*rate, random)).collect();
    let mut all = Vec::new();
    for rates in [&with, &without] {
        // A gate is never met by a run in which records of trials are missing: cases of a group have them.
        all.extend(rates.iter().map(|rate| Case { group: Some([0, 0]), ..Case::new(trials.draw(*rate, random)) }));
    }
    SuiteFiles { output: output.path(), id: "run", name: "simulated", package: "" }
        .write(trials, &all, |record| set_arm(record, cases));
    write_record(output.path(), "run", None, &["simulated"]);
    gate_status(output.path(), "lift > 0")
}

/// Gives a record its arm: the first `cases` ran with the skill, and the second arm has the same cases.
pub(crate) fn set_arm(record: &mut CaseRecord, cases: usize) {
    let number: usize = record.case_id.trim_start_matches("case-").parse().expect("cases have numbers");
    let (arm, number) = (["with_skill", "without_skill"][number / cases], number % cases);
    record.target = arm.to_owned();
    record.case_id = format!("case-{number:03}");
    record.test_name = format!("simulated::{arm}::case_{number:03}");
    record.case_digest = format!("{number:064x}");
    (record.input_digest, record.grader_digest) = (record.case_digest.clone(), record.case_digest.clone());
    record.reference_arm = arm == "without_skill";
}

/// How often the gate is met by a skill without effect, and by one with an effect of +0.4: 20 cases of any rate, with three trials.
pub(crate) fn met(simulations: usize) -> [f64; 2] {
    [&SKILLS[0], &SKILLS[2]].map(|skill| {
        let found = simulate(simulations, |random| gate(skill.effect, Rates::Uniform, 20, 3, random));
        share(&found, |found| *found == 0)
    })
}
