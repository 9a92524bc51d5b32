//! Figures that do not depend on the load of the machine: sizes of a test program and counts of instructions. They are held
//! within 10 % of those in `held.json`.

mod instructions;
mod sizes;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use self::sizes::Sizes;
use crate::competitor;
use crate::environment::Environment;
use crate::layout::{Cases, Layout};
use crate::prepared_package::PreparedPackage;
use crate::report;

/// Smaller parts of a program are printed, but not held.
const SMALLEST_HELD: u64 = 1 << 20;
/// Cases of the suite that is loaded.
const LOADED: usize = 1000;

/// Figures by name: bytes, or instructions.
pub(crate) type Figures = BTreeMap<String, u64>;

/// What was measured.
pub(crate) struct Measured {
    /// Figures that are held.
    pub(crate) held: Figures,
    /// Sizes of all sections and crates.
    pub(crate) sizes: Sizes,
    /// The held figures of the last change.
    pub(crate) expected: Figures,
}

/// Builds a package with one case and one with [`LOADED`], and measures them.
pub(crate) fn measure(environment: &Environment) -> Result<Measured> {
    let competitor = competitor::select(&["evalsuite".to_owned()])?[0];
    let prepare = |count| {
        let cases = Cases { layout: Layout::Cases, count };
        let package = PreparedPackage::prepare(competitor, cases, environment)?;
        let executable = package.first_build.as_ref().map_err(|why| anyhow::anyhow!("{why}"))?.executable.clone();
        anyhow::Ok((package, executable))
    };
    let (small, program) = prepare(1)?;
    let sizes = Sizes::of(&program)?;
    let mut held = sizes.held(SMALLEST_HELD);
    let (large, program) = prepare(LOADED)?;
    held.insert(format!("instructions of loading {LOADED} cases"), instructions::of_loading(&program, &large)?);
    held.insert("instructions of one trial".to_owned(), instructions::of_one_trial(&program, &large)?);
    for package in [small, large] {
        package.remove(environment)?;
    }
    let expected = match fs::read(file()) {
        Ok(bytes) => serde_json::from_slice(&bytes).context("held.json is not readable")?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Figures::new(),
        Err(error) => return Err(error).context("held.json cannot be read"),
    };
    Ok(Measured { held, sizes, expected })
}

impl Measured {
    /// Prints the figures; with `update` they become the held ones. Returns whether all are within the tolerance.
    pub(crate) fn finish(&self, update: bool) -> Result<bool> {
        report::held(self);
        if update {
            let json = serde_json::to_string_pretty(&self.held)?;
            fs::write(file(), json + "\n").context("held.json cannot be written")?;
            return Ok(true);
        }
        let outside: Vec<&String> = self
            .names()
            .into_iter()
            .filter(|name| !is_within(self.held.get(*name), self.expected.get(*name)))
            .collect();
        for name in &outside {
            println!("{name}: not within 10 % of the held figure");
        }
        if !outside.is_empty() {
            println!(
                "if that is intended, hold the new figures with `--held --update` and commit benches/compile/held.json"
            );
        }
        Ok(outside.is_empty())
    }

    /// Names of all figures, of those that are held and of those that were.
    pub(crate) fn names(&self) -> Vec<&String> {
        let mut names: Vec<&String> = self.held.keys().chain(self.expected.keys()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Whether a figure differs from the held one by at most a tenth. One that is not there is below the smallest that is held.
fn is_within(now: Option<&u64>, held: Option<&u64>) -> bool {
    let [now, held] = [now, held].map(|figure| figure.copied().unwrap_or(SMALLEST_HELD));
    (9 * held..=11 * held).contains(&(10 * now))
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("held.json")
}

#[cfg(test)]
mod tests {
    use super::{SMALLEST_HELD, is_within};

    #[test]
    fn a_figure_that_is_new_or_gone_or_differs_by_more_than_a_tenth_is_reported() {
        assert!(is_within(Some(&110), Some(&100)) && is_within(Some(&90), Some(&100)));
        assert!(!is_within(Some(&111), Some(&100)) && !is_within(Some(&89), Some(&100)));
        let (near, far) = (SMALLEST_HELD * 21 / 20, SMALLEST_HELD * 6 / 5);
        assert!(is_within(None, Some(&near)) && is_within(Some(&near), None), "it may cross the limit");
        assert!(!is_within(None, Some(&far)) && !is_within(Some(&far), None));
    }
}
