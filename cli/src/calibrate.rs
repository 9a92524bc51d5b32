//! `cargo evalsuite calibrate`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use evalsuite::__private::Samples;
use evalsuite::RunOptions;
use evalsuite_loader::{load, load_calibration, render};
use evalsuite_schema::diagnostic::{Code, Diagnostics};
use evalsuite_schema::{Calibration, Kind, Layout, Suite};

use crate::command_line::{Calibrate, ReportFormat};
use crate::{place, runs};

/// Exit code where nothing could be measured because of what the user has given.
const USAGE: u8 = 2;

/// Least rank correlation where nothing else is demanded.
const MIN_SPEARMAN: f64 = 0.7;

pub(crate) fn run(command: &Calibrate) -> io::Result<ExitCode> {
    let within = |value: Option<f64>, low: f64| value.is_none_or(|value| (low..=1.0).contains(&value));
    if !within(command.min_spearman, -1.0) || !within(command.tolerance, 0.0) {
        return Ok(wrong("`--min-spearman` is a number from -1 to 1, `--tolerance` one from 0 to 1"));
    }
    let mut samples = match samples(&command.file)? {
        Ok(samples) => samples,
        Err(code) => return Ok(code),
    };
    let calibration = &mut samples.calibration;
    calibration.tolerance = command.tolerance.unwrap_or(calibration.tolerance);
    let usual = (!calibration.bar.is_set()).then_some(MIN_SPEARMAN);
    calibration.bar.spearman = command.min_spearman.or(calibration.bar.spearman).or(usual);
    // Outside of a package, or in a broken one, records lie beside the file all the same.
    let output = runs::output_root().unwrap_or_else(|_| samples.package_root.join("target/evalsuite"));
    let report = match samples.measure(&RunOptions::new().with_output(output)) {
        Ok(report) => report,
        Err(problem) => {
            return Ok(wrong(&format!(
                "{problem}\n  = help: set EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL; a judge in Rust is measured by \
                 its suite's test `judge_calibration`"
            )));
        }
    };
    let mut out = anstream::stdout().lock();
    match command.format {
        ReportFormat::Text => write!(out, "{report}")?,
        ReportFormat::Json => writeln!(out, "{}", serde_json::to_string(report.record())?)?,
    }
    out.flush()?;
    Ok(if report.is_measured() && report.is_trusted() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn wrong(problem: &str) -> ExitCode {
    anstream::eprintln!("error: {problem}");
    ExitCode::from(USAGE)
}

/// The samples at a path, or the code to exit with: their problems were printed.
fn samples(path: &Path) -> io::Result<Result<Samples, ExitCode>> {
    let request = place::request(path)?;
    let (found, diagnostics) = if path.is_dir() {
        let loaded = load(&request);
        let found = loaded.suite.map(|suite| (suite.suite, suite.calibration));
        (found, loaded.diagnostics)
    } else {
        let file = request.package_root.join(&request.entry);
        let loaded = load_calibration(&file, &request);
        let found = loaded
            .calibration
            .map(|calibration| (suite_of(&file, &request.package_root, &calibration), Some(calibration)));
        (found, loaded.diagnostics)
    };
    print(&diagnostics)?;
    let Some((suite, calibration)) = found else {
        if diagnostics.iter().any(|problem| problem.code == Code::UnknownSampleCase) && !path.is_dir() {
            anstream::eprintln!("help: for samples that name cases, give the directory of their suite");
        }
        return Ok(Err(ExitCode::from(USAGE)));
    };
    let Some(calibration) = calibration else {
        return Ok(Err(wrong(&format!("suite `{}` has no calibration.yaml", suite.name))));
    };
    let repeat = format!("cargo evalsuite calibrate {}", path.display());
    Ok(Ok(Samples { suite, calibration, package_root: request.package_root, repeat }))
}

fn print(diagnostics: &Diagnostics) -> io::Result<()> {
    let mut out = anstream::AutoStream::auto(io::stderr().lock());
    for diagnostic in diagnostics {
        writeln!(out, "{}\n", render::text(diagnostic, render::Style::Colored))?;
    }
    out.flush()
}

/// Samples of a file belong to no suite, and their texts are taken as they are written.
fn suite_of(file: &Path, package_root: &Path, calibration: &Calibration) -> Suite {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // The file is all there is of the suite: what is written beside it does not lie inside.
    let root = file.strip_prefix(package_root).unwrap_or(file).to_string_lossy().into_owned();
    Suite { root, ..Suite::new(name, Layout::Tasks, Kind::Capability, calibration.location.clone()) }
}
