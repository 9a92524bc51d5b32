//! `cargo evalsuite check`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use evalsuite_loader::{LoadedSuite, Request, find_targets_file, load, load_targets, render};
use evalsuite_schema::diagnostic::Diagnostics;

use crate::command_line::{Check, Format};
use crate::suite_request;

/// What suites use of a targets file.
struct TargetsUse {
    request: Request,
    /// The entries that they name.
    names: BTreeSet<String>,
}

pub(crate) fn run(command: &Check) -> io::Result<ExitCode> {
    let suites = suites(command)?;
    if suites.is_empty() {
        anstream::eprintln!("error: no suite found\n  = help: name a suite: `cargo evalsuite check suites/my_agent`");
        return Ok(ExitCode::FAILURE);
    }
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    let mut all = Diagnostics::new();
    let mut tests = 0;
    // Suites of a package often share a targets file.
    let mut targets_files: BTreeMap<PathBuf, TargetsUse> = BTreeMap::new();
    for suite in &suites {
        let request = suite_request::request(suite)?;
        let loaded = load(&request);
        print(&mut out, command.format, &loaded.diagnostics)?;
        let directory = if suite.is_dir() { suite } else { suite.parent().unwrap_or(suite) };
        let targets_file = find_targets_file(directory, &request.package_root);
        if let Some(file) = targets_file {
            let used = targets_files.entry(file).or_insert_with(|| TargetsUse { request, names: BTreeSet::new() });
            let names = loaded.suite.iter().flat_map(LoadedSuite::targets_file_entries);
            used.names.extend(names.map(str::to_owned));
        }
        tests += loaded.suite.map_or(0, |suite| suite.tests.len());
        all.append(loaded.diagnostics);
    }
    for (file, used) in &targets_files {
        let problems = load_targets(file, &used.request).problems_of(used.names.iter().map(String::as_str));
        print(&mut out, command.format, &problems)?;
        all.append(problems);
    }
    if command.format == Format::Text {
        let suites = count(suites.len(), "suite");
        writeln!(out, "{} in {suites} with {}", render::summary(&all), count(tests, "test"))?;
    }
    out.flush()?;
    let failed = all.has_errors() || (command.deny_warnings && !all.is_empty());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn suites(command: &Check) -> io::Result<Vec<PathBuf>> {
    if command.paths.is_empty() {
        return suite_request::suites_here();
    }
    let mut suites = Vec::new();
    for path in &command.paths {
        suites.extend(suite_request::suites_at(path)?);
    }
    Ok(suites)
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn print(out: &mut impl Write, format: Format, diagnostics: &Diagnostics) -> io::Result<()> {
    for diagnostic in diagnostics {
        match format {
            Format::Text => writeln!(out, "{}\n", render::text(diagnostic, render::Style::Colored))?,
            Format::Json => writeln!(out, "{}", render::json(diagnostic))?,
            Format::Github => writeln!(out, "{}", render::github(diagnostic))?,
        }
    }
    Ok(())
}
