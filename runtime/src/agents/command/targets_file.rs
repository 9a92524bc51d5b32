//! Finds and reads the targets file of a suite.

use std::path::{Path, PathBuf};

use evalsuite_loader::{Request, find_targets_file, load_targets};
use evalsuite_schema::diagnostics::{Code, Diagnostic, Diagnostics, render};

use crate::model::agent::{Targets, UnusableTarget};
use crate::model::suite_location::SuiteLocation;

/// Finds and reads the targets file.
pub(crate) fn load(places: &SuiteLocation, named: Option<&Path>) -> Result<Targets, UnusableTarget> {
    let path = match named {
        Some(named) => at(named)?,
        None => find_targets_file(&places.suite_dir, &places.package_root).ok_or_else(|| {
            let searched = places.suite_dir.display();
            unusable(format!("no targets.yaml from {searched} up to the package root"))
                .help("add one, name it with `EVALSUITE_TARGETS`, or pass a Rust agent")
        })?,
    };
    let loaded = load_targets(&path, &Request::new("", &places.package_root));
    let report = |problems: &Diagnostics| UnusableTarget::from(render::report(problems, render::Style::Plain));
    let Some(file) = &loaded.targets else { return Err(report(&loaded.file_problems)) };
    let is_broken = |name: &&str| file.targets.iter().all(|entry| entry.name != *name);
    let broken = loaded.names().filter(is_broken);
    let broken = broken.map(|name| (name.to_owned(), report(&loaded.problems_of([name])))).collect();
    Ok(Targets { path, file: file.clone(), broken })
}

/// The file that `EVALSUITE_TARGETS` names.
fn at(named: &Path) -> Result<PathBuf, UnusableTarget> {
    let path = std::path::absolute(named).map_err(|error| {
        unusable(format!("EVALSUITE_TARGETS is {}, which is not a valid path: {error}", named.display()))
    })?;
    if path.is_file() {
        return Ok(path);
    }
    let problem = if path.exists() { "a directory without targets.yaml" } else { "which does not exist" };
    find_targets_file(&path, &path)
        .ok_or_else(|| unusable(format!("EVALSUITE_TARGETS is {}, {problem}", path.display())).into())
}

fn unusable(message: String) -> Diagnostic {
    Diagnostic::new(Code::TargetsFile, message)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const GOOD: &str = "targets:\n  - { name: default, provider: cli, command: echo }\n";

    fn places(root: &Path) -> SuiteLocation {
        SuiteLocation { package_root: root.to_owned(), suite_dir: root.join("suites/x") }
    }

    #[test]
    fn the_nearest_file_is_read_unless_another_one_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("suites/x/.agentv")).unwrap();
        fs::create_dir_all(root.path().join("ci")).unwrap();
        let missing = load(&places(root.path()), None).unwrap_err();
        assert!(missing.0.starts_with("error[E070 targets-file]: no targets.yaml from"), "{missing}");
        for file in ["targets.yaml", "suites/x/.agentv/targets.yaml", "ci/targets.yml"] {
            fs::write(root.path().join(file), GOOD).unwrap();
        }
        let path = |named: Option<&str>| {
            let named = named.map(|named| root.path().join(named));
            load(&places(root.path()), named.as_deref()).unwrap().path
        };
        assert_eq!(path(None), root.path().join("suites/x/.agentv/targets.yaml"));
        assert_eq!(path(Some("ci")), root.path().join("ci/targets.yml"));
        assert_eq!(path(Some("targets.yaml")), root.path().join("targets.yaml"));
        for (named, expected) in [("suites", "a directory without targets.yaml"), ("gone", "does not exist")] {
            let error = load(&places(root.path()), Some(&root.path().join(named))).unwrap_err();
            assert!(
                error.0.starts_with("error[E070 targets-file]: EVALSUITE_TARGETS is") && error.0.ends_with(expected),
                "{error}"
            );
        }
    }

    #[test]
    fn problems_of_an_entry_concern_only_the_targets_that_need_it() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("suites/x")).unwrap();
        let text = "targets:\n  - { name: a, provider: cli, command: 'x {PROMT}', timeout_seconds: 0 }\n  - { name: b, provider: cli }\n  \
                    - { name: good, provider: cli, command: x }\n";
        fs::write(root.path().join("targets.yaml"), text).unwrap();
        let targets = load(&places(root.path()), None).unwrap();
        let [(a, error), (b, other)] = targets.broken.as_slice() else { panic!("{:?}", targets.broken) };
        assert_eq!((a.as_str(), b.as_str()), ("a", "b"));
        for part in ["error[E072 unknown-placeholder]", "targets.yaml:2:", "error[E024 out-of-range]", "2 errors"] {
            assert!(error.0.contains(part), "{part} is missing in\n{error}");
        }
        assert!(other.0.contains("error[E021 missing-key]") && !other.0.contains("E072"), "{other}");
        let good: Vec<&str> = targets.file.targets.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(good, ["good"]);
    }

    #[test]
    fn a_file_that_is_no_list_of_targets_is_an_error_of_every_target() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("suites/x")).unwrap();
        fs::write(root.path().join("targets.yaml"), "target: []\n").unwrap();
        let error = load(&places(root.path()), None).unwrap_err();
        assert!(error.0.starts_with("error[E019 unknown-key]"), "{error}");
    }
}
