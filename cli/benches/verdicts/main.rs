//! How often the verdicts of `cargo evalsuite diff` are right, for agents whose chances are known.
//!
//! `cargo bench -p cargo-evalsuite --bench verdicts -- [TABLE …] [--simulations N]` draws two runs of made-up agents, writes their run
//! directories, has the command compare them, and counts its verdicts. Each table says what an agent did and how often the command
//! said so; the README shows them. Seeds are fixed: the same call prints the same tables.

mod agent;
mod alike;
mod bounds;
mod claims;
mod command;
mod errors;
mod histories;
mod intervals;
mod judges;
mod lift;
mod pairs;
mod reruns;
mod run_files;
mod scores;
mod sequential;
mod tables;

use std::env;
use std::process::ExitCode;

use self::tables::TABLES;

fn main() -> ExitCode {
    let mut simulations = 200;
    let mut wanted: Vec<String> = Vec::new();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // `cargo bench` adds it.
            "--bench" => {}
            "--simulations" => match arguments.next().and_then(|text| text.parse().ok()) {
                Some(number) => simulations = number,
                None => return usage("--simulations needs a number"),
            },
            name if TABLES.iter().any(|table| table.name == name) => wanted.push(name.to_owned()),
            name => return usage(&format!("there is no table `{name}`")),
        }
    }
    for table in TABLES.iter().filter(|table| wanted.is_empty() || wanted.iter().any(|name| name == table.name)) {
        println!("\n## {}: {}\n", table.name, table.about);
        (table.print)(simulations);
    }
    ExitCode::SUCCESS
}

fn usage(error: &str) -> ExitCode {
    eprintln!("error: {error}\n\nTables:");
    for table in TABLES {
        eprintln!("  {:<12} {}", table.name, table.about);
    }
    ExitCode::from(2)
}
