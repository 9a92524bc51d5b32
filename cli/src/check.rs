//! `cargo evalsuite check`.

use std::collections::BTreeSet;
use std::io;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use evalsuite_loader::{find_targets_file, load, load_targets, render};
use evalsuite_schema::diagnostic::Diagnostics;

use crate::command_line::{Check, Format};
use crate::suite_request;

pub(crate) fn run(command: &Check) -> io::Result<ExitCode> {
    let suites = suites(command)?;
    if suites.is_empty() {
        anstream::eprintln!("error: no suite found\n  = help: name a suite: `cargo evalsuite check suites/my_agent`");
        return Ok(ExitCode::FAILURE);
    }
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    let mut all = Diagnostics::new();
    let mut tests = 0;
    let mut targets_files = BTreeSet::new();
    for suite in &suites {
        let request = suite_request::request(suite)?;
        let loaded = load(&request);
        print(&mut out, command.format, &loaded.diagnostics)?;
        tests += loaded.suite.map_or(0, |suite| suite.tests.len());
        all.append(loaded.diagnostics);
        let directory = if suite.is_dir() { suite } else { suite.parent().unwrap_or(suite) };
        // Suites of a package often share a targets file.
        if let Some(file) = find_targets_file(directory, &request.package_root)
            && targets_files.insert(file.clone())
        {
            let targets = load_targets(&file, &request);
            print(&mut out, command.format, &targets.diagnostics)?;
            all.append(targets.diagnostics);
        }
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
