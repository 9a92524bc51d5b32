//! `cargo evalsuite new calibration`.

use std::io::Write;

use super::changes::Changes;
use super::package_here::PackageHere;
use crate::new::arguments::NewCalibration;
use crate::platform::cli_error::Result;
use crate::platform::output::stdout;

pub(super) fn write(arguments: &NewCalibration) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let mut changes = Changes::new(&package.root);
    // Samples of their own: which cases have a judge is the suite's business.
    changes.create(suite.path.join("calibration.yaml"), include_str!("../../assets/new/calibration.yaml"));
    let mut manifest = package.manifest;
    manifest.add_feature("grader-tests");
    manifest.write(&mut changes);
    changes.write(arguments.force)?;
    writeln!(stdout(), "\n`cargo evalsuite calibrate {}` measures the judge of the environment.", suite.entry)?;
    Ok(())
}
