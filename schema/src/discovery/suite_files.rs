//! Names of suite files, and of the calibrations next to them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::spelling::has_names_of_disk;

/// A file that makes its directory a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuiteFile {
    /// `suite.json`.
    Json,
    /// An eval file: `EVAL.yaml`, or a name that ends in `.eval.yaml`.
    Eval,
}

impl SuiteFile {
    /// The suite file with this name, in upper or lower case.
    pub fn named(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let is_eval =
            |ending: &str| lower.strip_suffix(ending).is_some_and(|stem| stem.is_empty() || stem.ends_with('.'));
        match lower.as_str() {
            "suite.json" => Some(Self::Json),
            _ if is_eval("eval.yaml") || is_eval("eval.yml") => Some(Self::Eval),
            _ => None,
        }
    }
}

/// Name of the file of an Agent Skill, of which the directory is a suite if it has [`SKILL_EVALS`] and no suite file.
pub const SKILL_FILE: &str = "SKILL.md";

/// The evals of an Agent Skill, relative to its directory.
pub const SKILL_EVALS: &str = "evals/evals.json";

/// Whether a directory is an Agent Skill with evals.
pub fn is_skill(directory: &Path) -> bool {
    [SKILL_FILE, SKILL_EVALS]
        .iter()
        .all(|file| directory.join(file).is_file() && has_names_of_disk(directory, &directory.join(file)))
}

/// The directory of the Agent Skill that a file belongs to, by the name and the place of the file: `SKILL.md`, or its evals.
pub fn skill_directory(file: &Path) -> Option<&Path> {
    let directory = file.parent()?;
    match file.file_name()?.to_str()? {
        SKILL_FILE => Some(directory),
        _ if file.ends_with(SKILL_EVALS) => directory.parent(),
        _ => None,
    }
}

/// The suite files of a directory, in the order of their names.
///
/// # Errors
///
/// If the directory cannot be read.
pub fn suite_files(directory: &Path) -> io::Result<Vec<(PathBuf, SuiteFile)>> {
    let named = |entry: io::Result<fs::DirEntry>| -> Option<(PathBuf, SuiteFile)> {
        let entry = entry.ok()?;
        let file = SuiteFile::named(entry.file_name().to_str()?)?;
        Some((entry.path(), file)).filter(|(path, _)| path.is_file())
    };
    let mut found: Vec<_> = fs::read_dir(directory)?.filter_map(named).collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// Names of the file, the usual one first.
const NAMES: [&str; 2] = ["calibration.yaml", "calibration.yml"];

/// File names of the calibration of a suite, of which the first that exists is read. `file` is the
/// name of the suite's own file, if there may be several in the directory: `refunds.eval.yaml`, `cases.jsonl`.
pub fn calibration_names(file: Option<&str>) -> Vec<String> {
    let own = file.map(stem).into_iter().flat_map(|stem| NAMES.map(|name| format!("{stem}.{name}")));
    own.chain(NAMES.map(str::to_owned)).collect()
}

/// A file's name without its extension and `.eval`.
pub fn stem(name: &str) -> &str {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let cut = stem.len().saturating_sub(5);
    match (stem.get(..cut), stem.get(cut..)) {
        (Some(rest), Some(ending)) if !rest.is_empty() && ending.eq_ignore_ascii_case(".eval") => rest,
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::{SuiteFile, *};

    #[test]
    fn suite_files_are_known_by_their_names() {
        for (name, file) in [
            ("suite.json", Some(SuiteFile::Json)),
            ("Suite.JSON", Some(SuiteFile::Json)),
            ("EVAL.yaml", Some(SuiteFile::Eval)),
            ("eval.yml", Some(SuiteFile::Eval)),
            ("refunds.Eval.yaml", Some(SuiteFile::Eval)),
            ("medieval.yaml", None),
            ("suite.yaml", None),
            ("case.yaml", None),
        ] {
            assert_eq!(SuiteFile::named(name), file, "{name}");
        }
    }

    #[test]
    fn a_suite_file_can_have_a_calibration_of_its_own() {
        assert_eq!(calibration_names(None), NAMES);
        let names = calibration_names(Some("refunds.eval.yaml"));
        let own = ["refunds.calibration.yaml", "refunds.calibration.yml"];
        assert_eq!(names, [&own[..], &NAMES].concat());
        for (name, expected) in [
            ("cases.jsonl", "cases"),
            ("EVAL.yaml", "EVAL"),
            ("a.b.Eval.yml", "a.b"),
            (".eval.yaml", ".eval"),
            ("plain", "plain"),
            ("äöü.yaml", "äöü"),
        ] {
            assert_eq!(stem(name), expected);
        }
    }
}
