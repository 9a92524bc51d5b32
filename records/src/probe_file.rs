//! The stored probe of a suite: its file in the package.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_schema::json::writer::Change;

use crate::digest::name_with_digest;
use crate::file_replacement::replace_file;
use crate::json;
use crate::package_file::{LARGEST_BASELINE, read_package_file, read_package_file_if_exists};
use crate::record::{ProbeRecord, SuiteId};

/// The file with the probe of a suite: in `.evalsuite/probe` of its package, which is not part of any suite.
pub fn probe_file(package_root: &Path, suite: &SuiteId) -> PathBuf {
    let name = name_with_digest(&suite.name, format!("{}\0{}", suite.path, suite.module));
    package_root.join(".evalsuite").join("probe").join(format!("{name}.json"))
}

/// Reads the stored probe of a suite; `None` if there is none, or if another version wrote it.
///
/// # Errors
///
/// If the file cannot be read or is not valid.
pub fn read_probe(package_root: &Path, suite: &SuiteId) -> io::Result<Option<ProbeRecord>> {
    let file = probe_file(package_root, suite);
    let invalid = |error: &dyn std::fmt::Display| {
        let message = format!("{}: {error}; delete it, and run `cargo evalsuite probe`", file.display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let read = read_package_file_if_exists(&file, LARGEST_BASELINE);
    let Some(text) = read.map_err(|error| invalid(&error))? else { return Ok(None) };
    let record: ProbeRecord = json::decode(&text).map_err(|error| invalid(&error))?;
    Ok((record.schema == ProbeRecord::SCHEMA).then_some(record))
}

/// Stores the probe of a suite, with changed texts; an unchanged file is not written.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_probe(package_root: &Path, record: &ProbeRecord, change: Option<Change<'_>>) -> io::Result<()> {
    let file = probe_file(package_root, &record.suite);
    let text = json::pretty(record, change)? + "\n";
    if read_package_file(&file, LARGEST_BASELINE).is_ok_and(|stored| stored == text.as_bytes()) {
        return Ok(());
    }
    replace_file(&file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use evalsuite_schema::diagnostics::{Code, Diagnostic};
    use evalsuite_schema::{EmptyProbe, Location};

    use super::*;
    use crate::record::{ProbeResult, ProbedCase, ResultKind};

    fn case(id: &str, results: &[(ResultKind, Option<bool>)]) -> ProbedCase {
        let results = results.iter().map(|(probe, passes)| {
            let mut result = ProbeResult::default();
            (result.probe, result.passes) = (*probe, *passes);
            result
        });
        ProbedCase {
            case_id: id.to_owned(),
            location: Location::new("case.yaml", 2, 1),
            results: results.collect(),
            ..ProbedCase::default()
        }
    }

    fn record() -> ProbeRecord {
        use ResultKind::{Echo, Mutant, Reference, Silent};
        let mut record = ProbeRecord::new();
        record.suite = SuiteId::new("shop");
        let first = [
            (Silent, Some(true)),
            (Echo, Some(true)),
            (Reference, Some(true)),
            (Mutant, Some(false)),
            (Mutant, Some(true)),
        ];
        let second = [(Silent, Some(false)), (Echo, Some(true)), (Reference, None), (Mutant, None)];
        record.cases = vec![case("a", &first), case("b", &second)];
        record.sum_up();
        record
    }

    #[test]
    fn the_floor_is_the_best_empty_probe_and_what_is_not_decided_counts_nowhere() {
        let record = record();
        let floor = record.floor.unwrap();
        assert_eq!((floor.probe, floor.share.count, floor.share.decided), (EmptyProbe::Echo, 2, 2));
        let ceiling = record.ceiling.unwrap();
        assert_eq!((ceiling.count, ceiling.decided), (1, 1));
        let mutants = record.mutants.unwrap();
        assert_eq!((mutants.count, mutants.decided, mutants.value()), (1, 2, 0.5));
        let mut nothing = ProbeRecord::new();
        nothing.sum_up();
        assert_eq!((nothing.floor, nothing.ceiling, nothing.mutants), (None, None, None));
    }

    #[test]
    fn the_rates_are_those_of_the_cases_that_are_left() {
        let mut record = record();
        let changed = Some("another digest".to_owned());
        record.retain_current(&BTreeMap::from([(("a", None), changed), (("b", None), None)]));
        let floor = record.floor.unwrap();
        assert_eq!((floor.probe, floor.share.count, floor.share.decided), (EmptyProbe::Echo, 1, 1));
        assert_eq!((record.ceiling, record.mutants), (None, None));
        record.retain_current(&BTreeMap::from([(("b", Some("another target")), None)]));
        assert_eq!(record.floor, None);
    }

    #[test]
    fn a_stored_probe_is_read_as_it_was_written() {
        let package = tempfile::tempdir().unwrap();
        let mut record = record();
        assert_eq!(read_probe(package.path(), &record.suite).unwrap(), None);
        let finding = Diagnostic::new(Code::PassesWithoutWork, "case `a` passes").at(Location::new("case.yaml", 2, 1));
        record.cases[0].findings.push(finding);
        write_probe(package.path(), &record, None).unwrap();
        assert_eq!(read_probe(package.path(), &record.suite).unwrap().as_ref(), Some(&record));
        let file = probe_file(package.path(), &record.suite);
        std::fs::write(&file, "{").unwrap();
        let error = read_probe(package.path(), &record.suite).unwrap_err().to_string();
        assert!(error.contains("run `cargo evalsuite probe`"), "{error}");
        record.schema = "evalsuite.probe/2".to_owned();
        write_probe(package.path(), &record, None).unwrap();
        assert_eq!(read_probe(package.path(), &record.suite).unwrap(), None);
    }
}
