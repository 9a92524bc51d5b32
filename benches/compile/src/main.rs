//! Measures the build time of suites, compared with hand-written tests and other test generators.
//!
//! The README describes what is measured and how.

mod builds;
mod cargo;
mod case_text;
mod competitor;
mod editing;
mod environment;
mod held;
mod layout;
mod options;
mod package;
mod prepared_package;
mod process;
mod report;
mod source_copy;
mod startup;
mod statistics;
mod whole_runs;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use serde_json::json;

use crate::environment::Environment;
use crate::options::Options;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Exits with 1 if a competitor could not be measured, or a held figure has changed.
fn run(options: &Options) -> Result<ExitCode> {
    let competitors = competitor::select(&options.only)?;
    let environment = Environment::new(options)?;
    let complete = if options.editing {
        let measured = editing::measure(options, &environment)?;
        if options.json {
            println!("{}", json!({ "editing": measured }));
        } else {
            report::editing(&measured);
        }
        true
    } else if options.held {
        held::measure(&environment)?.finish(options.update)?
    } else if options.whole_runs {
        let measured = whole_runs::measure(options, &competitors, &environment)?;
        if options.json {
            println!("{}", json!({ "layout": format!("{:?}", options.layout), "whole_runs": measured }));
        } else {
            report::whole_runs(&measured);
        }
        measured.iter().all(|measured| measured.failure.is_none())
    } else if options.startup {
        let measured = startup::measure(options, &competitors, &environment)?;
        if options.json {
            println!("{}", json!({ "layout": format!("{:?}", options.layout), "startup": measured }));
        } else {
            report::startup(&measured);
        }
        measured.iter().all(|measured| measured.failure.is_none())
    } else {
        let measured = builds::measure(options, &competitors, &environment)?;
        if options.json {
            println!("{}", json!({ "layout": format!("{:?}", options.layout), "builds": measured }));
        } else {
            report::builds(&measured, options.runs.get());
        }
        measured.iter().all(|measured| measured.failure.is_none())
    };
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
