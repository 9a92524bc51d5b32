//! The tables, and the simulations behind them.

use std::thread;

use evalsuite_records::baseline::{RepeatedCases, Repetition, UnchangedSuite};
use evalsuite_records::record::{BaselineCase, DEFAULT_CONFIRMING, Status};
use fastrand::Rng;

use super::agent::{POPULATIONS, Rates, Trials};
use super::command::{Said, diff};
use super::run_files::{Case, write_run};
use super::{alike, bounds, claims, errors, histories, intervals, judges, lift, pairs, reruns, scores, sequential};

/// A table that can be asked for.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) print: fn(usize),
}

pub(crate) const TABLES: &[Table] = &[
    Table { name: "claims", about: "one line for every verdict, with 40 simulations each", print: claims::print },
    Table { name: "unchanged", about: "an agent that has not changed", print: unchanged },
    Table { name: "repeated", about: "an agent that has not changed, failed cases being repeated", print: repeated },
    Table { name: "early", about: "an agent that has not changed; the trials of a run end early", print: early },
    Table { name: "slices", about: "an agent that has not changed, compared by slices", print: slices },
    Table {
        name: "clusters",
        about: "an agent that has not changed; cases of a cluster come out alike",
        print: clusters,
    },
    Table {
        name: "alike",
        about: "an agent that has not changed; trials of a case in a run resemble each other",
        print: alike::print,
    },
    Table { name: "days", about: "runs of several days, which move all rates", print: alike::print_days },
    Table {
        name: "errors",
        about: "an agent that has not changed or is worse; trials end in an error",
        print: errors::print,
    },
    Table {
        name: "scores",
        about: "scores between 0 and 1; cases, trials and errors that only one of the runs has",
        print: scores::print,
    },
    Table { name: "power", about: "an agent that has become worse", print: power },
    Table { name: "histories", about: "an agent that has not changed, over thirty runs", print: histories::print },
    Table {
        name: "forecasts",
        about: "the forecast of `accept`, and the share of red runs",
        print: histories::print_forecasts,
    },
    Table {
        name: "lucky",
        about: "an agent that has not changed, after one accepted run in which cases that seldom pass may have passed",
        print: histories::print_lucky,
    },
    Table { name: "broken", about: "a case that has always passed breaks", print: histories::print_broken },
    Table { name: "risen", about: "an agent that became better, and then as it was", print: histories::print_risen },
    Table { name: "margin", about: "an agent that has lost 8 %, compared with a margin of 5 %", print: margin },
    Table {
        name: "intervals",
        about: "how often intervals contain the mean change of all such cases",
        print: intervals::print,
    },
    Table {
        name: "sequential",
        about: "runs that end as soon as they are decided, with a margin of 10 %",
        print: sequential::print,
    },
    Table {
        name: "rounds",
        about: "the same, by `run --until-decided` with a test program: 20 runs, or as many as --simulations says",
        print: sequential::print_rounds,
    },
    Table {
        name: "reruns",
        about: "one commit that runs again and again, compared with another one",
        print: reruns::print,
    },
    Table {
        name: "bounds",
        about: "bounds of scores, and gates on rates, with agents near the limit",
        print: bounds::print,
    },
    Table { name: "lift", about: "the gate `lift > 0`, for skills with and without an effect", print: lift::print },
    Table { name: "pairs", about: "answers that a judge compares in pairs", print: pairs::print },
    Table { name: "judges", about: "judges that have not changed, or agree less with people", print: judges::print },
];

/// Runs simulations on all processors; each has a number of its own.
pub(crate) fn simulate<T: Send>(simulations: usize, simulate: impl Fn(&mut Rng) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get());
    let simulate = &simulate;
    thread::scope(|scope| {
        let worker = |thread: usize| {
            let numbers = (0..simulations).filter(move |number| number % threads == thread);
            numbers.map(|number| simulate(&mut Rng::with_seed(0x51_4d00 + number as u64))).collect::<Vec<T>>()
        };
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || worker(thread))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no simulation panics")).collect()
    })
}

/// What the command says about two runs that were drawn.
pub(crate) fn compare(
    simulations: usize,
    trials: [Trials; 2],
    arguments: &[&str],
    draw: impl Fn(&mut Rng) -> [Vec<Case>; 2] + Sync,
) -> Vec<Said> {
    simulate(simulations, |random| {
        let output = tempfile::tempdir().expect("a temporary directory");
        let [base, run] = draw(random);
        write_run(output.path(), "base", trials[0], &base);
        write_run(output.path(), "run", trials[1], &run);
        diff(output.path(), arguments)
    })
}

/// Cases with trials of each rate.
pub(crate) fn cases(rates: &[f64], trials: Trials, random: &mut Rng) -> Vec<Case> {
    rates.iter().map(|rate| Case::new(trials.draw(*rate, random))).collect()
}

/// Repeats the cases that failed, and of which a trial passed in the base, as test programs do whose baseline is the base.
fn repeat(base: &[Case], run: &mut [Case], rates: &[f64], random: &mut Rng) {
    let passed = |case: &Case| case.trials.iter().filter(|passes| **passes).count() as u32;
    let line = |case: &Case| {
        let mut line = BaselineCase::default();
        (line.passed, line.trials) = (passed(case), case.trials.len() as u32);
        line
    };
    let lines: Vec<BaselineCase> = base.iter().map(line).collect();
    repeat_as_accepted(&lines, run, rates, random);
}

/// Repeats the cases that differ from these lines of a baseline; returns the number of trials.
pub(crate) fn repeat_as_accepted(lines: &[BaselineCase], run: &mut [Case], rates: &[f64], random: &mut Rng) -> usize {
    let planned: usize = run.iter().map(|case| case.trials.len()).sum();
    let suite = UnchangedSuite::new(lines);
    let mut repeated = RepeatedCases::default();
    let mut trials = 0;
    for ((line, case), rate) in lines.iter().zip(run).zip(rates) {
        let passed = case.trials.iter().filter(|passes| **passes).count() as u32;
        let outcome = if passed > 0 { Status::Passed } else { Status::Failed };
        let ran = (passed, case.trials.len() as u32);
        let accepted = (line.passed, line.trials);
        let suite = || Some(suite.clone());
        let Some(found) = Repetition::of(outcome, ran, accepted, suite, DEFAULT_CONFIRMING) else { continue };
        if found.takes_room() && repeated.allowed(DEFAULT_CONFIRMING, planned as u32) == 0 {
            continue;
        }
        let until = if found.takes_room() { Trials::UntilPass } else { Trials::UntilFailure };
        case.confirming = until(found.trials as usize).draw(*rate, random);
        if found.takes_room() {
            repeated.add(case.confirming.len() as u32, !case.confirming.contains(&true));
        }
        trials += case.confirming.len();
    }
    trials
}

pub(crate) fn share<T>(of: &[T], is_meant: impl Fn(&T) -> bool) -> f64 {
    100.0 * of.iter().filter(|one| is_meant(one)).count() as f64 / of.len() as f64
}

pub(crate) fn print_verdicts(label: &str, said: &[Said], further: Option<f64>) {
    let of = |verdict: &str| share(said, |said| said.is(verdict));
    let further = further.map(|share| format!(" {share:.1} % |")).unwrap_or_default();
    println!(
        "| {label} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |{further}",
        of("regressed"),
        of("improved"),
        of("unchanged") + of("same"),
        of("undecided")
    );
}

fn header(columns: &str) {
    println!("| {columns} | regressed | improved | unchanged | undecided |");
    println!("|{} ---: | ---: | ---: | ---: |", " --- |".repeat(columns.split('|').count()));
}

fn unchanged(simulations: usize) {
    header("rates | cases | trials");
    for (name, rates) in POPULATIONS {
        for (count, trials) in [(20, 1), (20, 5), (50, 2), (50, 5), (100, 1), (100, 3), (100, 5), (100, 10)] {
            let all = Trials::All(trials);
            let said = compare(simulations, [all; 2], &[], |random| {
                let rates = rates.draw(count, random);
                [cases(&rates, all, random), cases(&rates, all, random)]
            });
            print_verdicts(&format!("{name} | {count} | {trials}"), &said, None);
        }
    }
}

fn repeated(simulations: usize) {
    header("rates | cases | trials");
    for (name, rates) in POPULATIONS {
        for (count, trials) in [(20, 1), (30, 1), (100, 1), (50, 2), (100, 3)] {
            let all = Trials::All(trials);
            let said = compare(simulations, [all; 2], &[], |random| {
                let rates = rates.draw(count, random);
                let base = cases(&rates, all, random);
                let mut run = cases(&rates, all, random);
                repeat(&base, &mut run, &rates, random);
                [base, run]
            });
            print_verdicts(&format!("{name} | {count} | {trials}"), &said, None);
        }
    }
}

fn early(simulations: usize) {
    header("rates | base | run");
    let designs = [
        ("all of 5", "until one passes", Trials::All(5), Trials::UntilPass(5)),
        ("until one passes", "all of 5", Trials::UntilPass(5), Trials::All(5)),
        ("all of 5", "until one fails", Trials::All(5), Trials::UntilFailure(5)),
        ("until one passes", "until one passes", Trials::UntilPass(5), Trials::UntilPass(5)),
        ("until one fails", "until one fails", Trials::UntilFailure(3), Trials::UntilFailure(3)),
    ];
    for (name, rates) in POPULATIONS {
        for (base_label, run_label, base, run) in designs {
            let said = compare(simulations, [base, run], &[], |random| {
                let rates = rates.draw(50, random);
                [cases(&rates, base, random), cases(&rates, run, random)]
            });
            print_verdicts(&format!("{name} | {base_label} | {run_label}"), &said, None);
        }
    }
}

/// Cases of groups of this size, and of this many parts.
fn grouped(mut cases: Vec<Case>, size: usize, parts: usize) -> Vec<Case> {
    cases.iter_mut().enumerate().for_each(|(index, case)| case.group = Some([index / size, index % parts]));
    cases
}

fn slices(simulations: usize) {
    header("rates | slices | trials");
    for (name, rates) in POPULATIONS {
        for (count, trials) in [(5, 1), (5, 5), (10, 3)] {
            let all = Trials::All(trials);
            let said = compare(simulations, [all; 2], &["--by", "metadata.part"], |random| {
                let rates = rates.draw(100, random);
                [0, 1].map(|_| grouped(cases(&rates, all, random), 1, count))
            });
            print_verdicts(&format!("{name} | {count} | {trials}"), &said, None);
        }
    }
}

fn clusters(simulations: usize) {
    header("rates | clusters of | trials | slices");
    for (name, rates) in POPULATIONS {
        for (size, trials, by) in [(4, 1, false), (4, 3, false), (10, 3, false), (4, 3, true)] {
            let all = Trials::All(trials);
            let arguments: &[&str] =
                if by { &["--cluster-by", "group", "--by", "metadata.part"] } else { &["--cluster-by", "group"] };
            let said = compare(simulations, [all; 2], arguments, |random| {
                let rates = rates.draw(100 / size, random);
                // All cases of a cluster come out as the first one does.
                [0, 1].map(|_| {
                    let drawn = cases(&rates, all, random);
                    let alike = (0..100 / size * size).map(|index| drawn[index / size].clone()).collect();
                    grouped(alike, size, 5)
                })
            });
            print_verdicts(&format!("{name} | {size} | {trials} | {}", if by { "5" } else { "none" }), &said, None);
        }
    }
}

fn power(simulations: usize) {
    header("what became worse | other rates | cases | trials");
    let broken = |others: Rates, count: usize, trials: usize, repeats: bool, broken: usize| {
        let all = Trials::All(trials);
        compare(simulations, [all; 2], &[], move |random| {
            let mut rates = others.draw(count, random);
            rates[..broken].fill(1.0);
            let base = cases(&rates, all, random);
            rates[..broken].fill(0.0);
            let mut run = cases(&rates, all, random);
            if repeats {
                repeat(&base, &mut run, &rates, random);
            }
            [base, run]
        })
    };
    let hundred = [
        ("one case broke | always 1", Rates::All(1.0), 5, false, 1),
        ("one case broke | always 1", Rates::All(1.0), 4, false, 1),
        ("one case broke | always 1", Rates::All(1.0), 3, false, 1),
        ("two cases broke | always 1", Rates::All(1.0), 3, false, 2),
        ("one case broke, repeated | always 1", Rates::All(1.0), 1, true, 1),
        ("two cases broke, repeated | always 1", Rates::All(1.0), 1, true, 2),
        ("one case broke, repeated | 1 or 0", Rates::PassOrFail, 1, true, 1),
        ("one case broke | 1 or 0", Rates::PassOrFail, 5, false, 1),
        ("one case broke | 20 % at 0.5", Rates::StableBut(0.2, 0.5), 5, false, 1),
        ("one case broke | 20 % at 0.5", Rates::StableBut(0.2, 0.5), 10, false, 1),
        ("one case broke | all 0.98", Rates::All(0.98), 5, false, 1),
        ("one case broke, repeated | all 0.98", Rates::All(0.98), 1, true, 1),
    ];
    let thirty = [3, 4, 10].map(|trials| ("one case broke | always 1", Rates::All(1.0), trials, false, 1));
    let designs = hundred.into_iter().map(|design| (100, design)).chain(thirty.map(|design| (30, design)));
    for (cases, (label, others, trials, repeats, count)) in designs {
        print_verdicts(&format!("{label} | {cases} | {trials}"), &broken(others, cases, trials, repeats, count), None);
    }
    for (name, rates) in POPULATIONS {
        for (count, trials) in [(100, 1), (100, 3), (100, 5), (30, 5)] {
            let all = Trials::All(trials);
            let said = compare(simulations, [all; 2], &[], |random| {
                let rates = rates.draw(count, random);
                let worse: Vec<f64> = rates.iter().map(|rate| f64::max(rate - 0.1, 0.0)).collect();
                [cases(&rates, all, random), cases(&worse, all, random)]
            });
            print_verdicts(&format!("every case by 0.1 | {name} | {count} | {trials}"), &said, None);
        }
    }
}

fn margin(simulations: usize) {
    println!("| rates | cases | trials | accepted |\n| --- | --- | --- | ---: |");
    for (name, rates) in POPULATIONS {
        for (count, trials) in [(6, 1), (20, 1), (20, 5), (100, 3)] {
            let all = Trials::All(trials);
            let said = compare(simulations, [all; 2], &["--margin", "0.05"], |random| {
                let rates = rates.draw(count, random);
                // Eight of a hundred cases lose everything.
                let lose = |rate: &f64| {
                    if random.f64() < 0.08 / rates.iter().sum::<f64>() * count as f64 { 0.0 } else { *rate }
                };
                let worse: Vec<f64> = rates.iter().map(lose).collect();
                [cases(&rates, all, random), cases(&worse, all, random)]
            });
            println!("| {name} | {count} | {trials} | {:.1} % |", share(&said, |said| said.status == 0));
        }
    }
}
