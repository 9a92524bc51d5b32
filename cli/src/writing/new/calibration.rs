//! `cargo evalsuite new calibration`.

use std::io::Write;

use super::changes::Changes;
use super::package_here::PackageHere;
use crate::command_line::NewCalibration;
use crate::platform::cli_error::Result;
use crate::platform::output::stdout;

/// Samples of their own: which cases have a judge is the suite's business.
const SAMPLES: &str = r#"# Answers with the scores of a person, 0 to 1, which the test `judge_calibration` compares with those of the judge.
# Replace the samples by answers of your agent. With `minimum: { kappa: 0.6 }` a judge below it fails the test.
samples:
  - id: apologizes
    input: My order arrived broken.
    criteria: Apologizes, and offers a refund or a replacement.
    output: I am sorry about that. We will send you a new one today.
    human_score: 1
  - id: blames
    input: My order arrived broken.
    criteria: Apologizes, and offers a refund or a replacement.
    output: You should have been more careful.
    human_score: 0
"#;

pub(super) fn write(arguments: &NewCalibration) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let mut changes = Changes::new(&package.root);
    changes.create(suite.path.join("calibration.yaml"), SAMPLES);
    changes.write(arguments.force)?;
    writeln!(stdout(), "\n`cargo evalsuite calibrate {}` measures the judge of the environment.", suite.entry)?;
    Ok(())
}
