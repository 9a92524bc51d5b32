//! `cargo evalsuite calibrate`.

use std::path::{Path, PathBuf};

use clap::Args;
use evalsuite::RunOptions;
use evalsuite::tooling::RatedSamples;
use evalsuite_loader::{load, load_calibration};
use evalsuite_schema::diagnostics::{Code, render};
use evalsuite_schema::{Calibration, Layout, Suite, SuiteKind};

use crate::arguments::OutputFormat;
use crate::locate::{stored_runs, suite_search};
use crate::platform::exit_status::{CliError, CommandStatus, Result};
use crate::platform::output::{Progress, print, say};

/// Compare the scores of a judge with those of people
///
/// Asks the judge of the environment (EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, or EVALSUITE_JUDGE_TARGET) to rate each
/// sample. Prints how well it agrees with people: agreement, Cohen's kappa, correlations, errors, and the largest differences.
/// The test `judge_calibration` of a suite measures a judge in Rust. Requires the feature `judge`. Exit status: 0 on success, 1 if the judge
/// misses the required minimum or rated fewer than half of the samples, 2 if the command line, the file or the environment is invalid.
#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// JSONL file with one sample per line, calibration.yaml, or a suite that has a calibration.yaml
    pub(crate) file: PathBuf,
    /// Minimum rank correlation, -1 to 1 [default: the minimum of the file, else 0.7]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub(crate) min_spearman: Option<f64>,
    /// Maximum difference between two scores that agree, 0 to 1 [default: the tolerance of the file, else 0.15]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// Minimum rank correlation if neither the command line nor the file sets a minimum.
const MIN_SPEARMAN: f64 = 0.7;

pub(crate) fn run(command: &Calibrate) -> Result<CommandStatus> {
    let within = |value: Option<f64>, low: f64| value.is_none_or(|value| (low..=1.0).contains(&value));
    if !within(command.min_spearman, -1.0) || !within(command.tolerance, 0.0) {
        return Err(CliError::new("`--min-spearman` must be between -1 and 1, `--tolerance` between 0 and 1"));
    }
    let mut samples = samples(&command.file)?;
    let calibration = &mut samples.calibration;
    calibration.tolerance = command.tolerance.unwrap_or(calibration.tolerance);
    let default = (!calibration.bar.is_set()).then_some(MIN_SPEARMAN);
    calibration.bar.spearman = command.min_spearman.or(calibration.bar.spearman).or(default);
    let output = stored_runs::output_path_of(&samples.package_root)?;
    let progress = Progress::start("asking the judge");
    let measured = samples.measure(&RunOptions::new().with_output(output));
    drop(progress);
    let report = measured.map_err(|problem| {
        let help = "set EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL; a judge in Rust is measured by the test \
                    `judge_calibration` of its suite";
        CliError::with_help(problem, help)
    })?;
    print(command.format, report.record(), |out| write!(out, "{report}"))?;
    Ok(CommandStatus::good_if(report.is_measured() && report.is_trusted()))
}

/// The samples at a path; their problems are printed.
fn samples(path: &Path) -> Result<RatedSamples> {
    let request = suite_search::request(&suite_search::existing(path)?)?;
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
    diagnostics.iter().for_each(|problem| say!("{}\n", render::text(problem, render::Style::Colored)));
    let Some((suite, calibration)) = found else {
        if diagnostics.iter().any(|problem| problem.code == Code::UnknownSampleCase) && !path.is_dir() {
            say!("help: the samples refer to cases: name the directory of their suite");
        }
        return Err(CliError::printed());
    };
    let Some(calibration) = calibration else {
        let message = format!("suite `{}` has no calibration.yaml", suite.name);
        return Err(CliError::with_help(message, "write one: `cargo evalsuite new calibration`"));
    };
    let repeat = format!("cargo evalsuite calibrate {}", path.display());
    Ok(RatedSamples { suite, calibration, package_root: request.package_root, repeat })
}

/// The suite for samples of a file, which belong to no suite.
fn suite_of(file: &Path, package_root: &Path, calibration: &Calibration) -> Suite {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // The file is the whole suite: records next to it are not in the suite.
    let root = file.strip_prefix(package_root).unwrap_or(file).to_string_lossy().into_owned();
    let mut suite = Suite::new(name, Layout::Tasks, SuiteKind::Capability, calibration.location.clone());
    suite.root = root;
    suite
}
