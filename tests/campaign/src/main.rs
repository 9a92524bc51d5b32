//! The command line of the campaign.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, io};

use evalsuite_campaign::{
    Extent, Job, LONG, PARTS, SHORT, attack, fuzz_targets, read_run, replay, run, run_victim, work,
};

const USAGE: &str = "\
usage: evalsuite-campaign [--long] [--only PART] [--seed N] [--loads N] [--findings DIRECTORY]
       evalsuite-campaign --replay TARGET:SEED:NUMBER

PART is fuzz, kills, reruns, faults, attacks, runs, or a target of fuzz, such as suites. Without --long, the short form runs.
--replay runs one execution of a fuzz target again, and writes its input to DIRECTORY.";

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        // The programs that the campaign starts.
        ["victim", index] => {
            run_victim(number(index)?);
            Ok(ExitCode::SUCCESS)
        }
        ["attack", index, place] => attack(number(index)?, place.as_ref()).map(|()| ExitCode::SUCCESS),
        #[cfg(target_os = "linux")]
        ["seal", mode, place] => evalsuite_campaign::try_seal(mode, place.as_ref()).map(|()| ExitCode::SUCCESS),
        ["read-run", output, place] => read_run(output.as_ref(), place.as_ref()).map(|()| ExitCode::SUCCESS),
        ["fuzz-worker", target, seed, from, to, findings, state] => {
            let (seed, from, to) = (number(seed)?, number(from)?, number(to)?);
            work(&Job { target: (*target).to_owned(), seed, from, to, findings: findings.into() }, state.as_ref())
        }
        words => campaign(words),
    }
}

fn campaign(mut words: &[&str]) -> io::Result<ExitCode> {
    let (mut extent, mut seed, mut parts, mut findings) =
        (SHORT, 1, PARTS.to_vec(), PathBuf::from("target/campaign/findings"));
    let mut replayed = None;
    while let [option, rest @ ..] = words {
        words = match (*option, rest) {
            ("--long", rest) => {
                extent = LONG;
                rest
            }
            ("--only", [part, rest @ ..]) if PARTS.contains(part) || fuzz_targets().any(|target| target == *part) => {
                parts = vec![*part];
                rest
            }
            ("--seed", [value, rest @ ..]) => {
                seed = number(value)?;
                rest
            }
            ("--loads", [value, rest @ ..]) => {
                extent = Extent { loads: number(value)?, ..extent };
                rest
            }
            ("--findings", [value, rest @ ..]) => {
                findings = PathBuf::from(value);
                rest
            }
            ("--replay", [value, rest @ ..]) => {
                replayed = Some(*value);
                rest
            }
            _ => {
                eprintln!("{USAGE}");
                return Ok(ExitCode::from(2));
            }
        };
    }
    if let Some(execution) = replayed {
        return replay(execution, &findings);
    }
    let table = run(&env::current_exe()?, &parts, extent, seed, &findings)?;
    println!("{}", table.text);
    Ok(if table.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn number<N: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>>(text: &str) -> io::Result<N> {
    text.parse().map_err(io::Error::other)
}
