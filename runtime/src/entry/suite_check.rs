//! The generated test `suite_check`: checks of a suite that need the compiled program, and whether that is of this package: two checkouts
//! with one target directory may run each other's test programs.
//!
//! For `cargo evalsuite watch`, which need not build for them, it also runs cases that are new since the build and so have no tests of
//! their own.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, io};

use evalsuite_records::record::Status;
use evalsuite_schema::diagnostics::{Code, Diagnostic, SourceRange, counted};
use evalsuite_schema::discovery::{ProblemKind, normalize, with_slashes};
use evalsuite_schema::line_breaks::digest_of_file;
use evalsuite_schema::sorting::{map, set};
use evalsuite_schema::{Case, Suite};

use crate::entry::evals_run::{Report, RunCases, RunOptions};
use crate::entry::reload;
use crate::entry::run_error::RunError;
use crate::entry::suite_description::NewCase;
use crate::model::evals::Evals;
use crate::model::suite::EvalSuite;
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::{sha256, sha256_of_source};
use crate::platform::package_file::read_package_file;
use crate::platform::redaction::without_secrets;
use crate::platform::untrusted::{EntryKind, TreeEntry};
use crate::run::selection::grader_problems;
use crate::workspace::snapshot::{is_ignored, walk};

/// Largest number of added or removed files that are shown.
const SHOWN: usize = 10;

#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Texts of the errors.
    pub(crate) problems: Vec<String>,
    /// Why checks were skipped.
    pub(crate) skipped: Vec<String>,
}

pub(crate) fn run(evals: &Evals) -> Findings {
    let mut findings = Findings::default();
    let suite = evals.suite();
    let places = SuiteLocation::of(suite);
    if places.suite_dir.is_dir() {
        compare(suite, &places, &mut findings);
        findings.problems.extend(other_checkout(suite, &places));
        compare_calibration(suite, &places, &mut findings);
    } else if watched(suite).next().is_some() {
        let reason = format!("{} does not exist here, so it is not compared with the compiled suite", suite.root);
        findings.skipped.push(reason);
    }
    let mut seen = BTreeSet::new();
    for entry in suite.cases {
        // In a matrix, a case is listed once per target.
        if !seen.insert(entry.id) {
            continue;
        }
        match entry.decode() {
            Ok(case) => check_graders(&case, evals, &mut findings),
            Err(error) => findings.problems.push(format!("case `{}` cannot be decoded: {error}", entry.id)),
        }
    }
    findings
}

fn check_graders(case: &Case, evals: &Evals, findings: &mut Findings) {
    for problem in grader_problems(case, evals.registry()) {
        let problem = problem.to_string();
        // A grader of the suite is part of every case; its error is reported once.
        if !findings.problems.contains(&problem) {
            findings.problems.push(problem);
        }
    }
}

/// Where cases are looked for.
fn watched(suite: &EvalSuite) -> impl Iterator<Item = (&'static str, &'static str)> {
    suite.sources.iter().copied().filter(|(kind, _)| *kind != FILE)
}

/// Compares the files of cases with those at compile time.
fn compare(suite: &EvalSuite, places: &SuiteLocation, findings: &mut Findings) {
    let suite_dir = normalize(&places.suite_dir);
    let mut listed = BTreeSet::new();
    for (kind, path) in watched(suite) {
        // As in the loader: links in `tasks/` must stay in the suite, links in case directories in the package.
        let inside = places.suite_dir.starts_with(&places.package_root) && kind != "tasks";
        let boundary = if inside { &places.package_root } else { &places.suite_dir };
        let listing = evalsuite_schema::discovery::list(&places.suite_dir, boundary, kind, path);
        listed.extend(listing.files.iter().map(|file| place(file, &suite_dir).into_owned()));
        for problem in listing.problems.iter().filter(|problem| problem.kind != ProblemKind::NoCaseFile) {
            findings.problems.push(suite_changed(format!("{}: {}", problem.path, problem.message)));
        }
    }
    // Cases in the suite file itself have no file of their own, and are not listed.
    let has_own_file = |source: &str, place: &str| {
        listed.contains(place)
            || watched(suite).any(|(kind, path)| match kind {
                "glob" => !suite_dir.join(place).exists(),
                _ => lies_in(path, source),
            })
    };
    let sources = suite.cases.iter().map(|case| (case.source, place(case.source, &suite_dir)));
    let sources = sources.filter(|(source, place)| has_own_file(source, place));
    let compiled: BTreeSet<String> = sources.map(|(_, place)| place.into_owned()).collect();
    let shown = |path: &String| shown(path, suite, places);
    let added: Vec<String> = listed.difference(&compiled).map(shown).collect();
    let removed: Vec<String> = compiled.difference(&listed).map(shown).collect();
    if !added.is_empty() || !removed.is_empty() {
        findings.problems.push(changed(suite, &added, &removed));
    }
}

/// The path of a file relative to the suite, or the whole path of one outside of it, however it is written: a pattern may lead out of the
/// suite, and a case there has an absolute path.
fn place<'p>(path: &'p str, suite_dir: &Path) -> Cow<'p, str> {
    if !Path::new(path).is_absolute() && !path.contains("./") {
        return Cow::Borrowed(path);
    }
    let whole = normalize(&suite_dir.join(path));
    Cow::Owned(with_slashes(whole.strip_prefix(suite_dir).unwrap_or(&whole)))
}

/// A file of the suite with the root of the suite before it, another file of the package relative to the package, else the whole path.
fn shown(place: &str, suite: &EvalSuite, places: &SuiteLocation) -> String {
    if !Path::new(place).is_absolute() {
        return format!("{}/{place}", suite.root);
    }
    Path::new(place).strip_prefix(normalize(&places.package_root)).map_or_else(|_| place.to_owned(), with_slashes)
}

/// Compares the name of the calibration file with that at compile time. Cargo tracks its content.
fn compare_calibration(suite: &EvalSuite, places: &SuiteLocation, findings: &mut Findings) {
    // Data that cannot be decoded is reported where it is used.
    let compiled = suite.decode_calibration().ok().flatten().map(|found| last(&found.location.file).to_owned());
    let data = suite.decode().ok();
    let own = data.as_ref().and_then(own_file);
    let is_there = |name: &String| places.suite_dir.join(name).symlink_metadata().is_ok();
    let found = evalsuite_schema::discovery::calibration_names(own).into_iter().find(is_there);
    if found != compiled {
        let shown = |name: Option<String>| name.map(|name| format!("{}/{name}", suite.root)).into_iter().collect();
        let (added, removed): (Vec<_>, Vec<_>) = (shown(found), shown(compiled));
        findings.problems.push(changed(suite, &added, &removed));
    }
}

/// Name of the suite file, if a directory may have several.
fn own_file(suite: &Suite) -> Option<&str> {
    Some(last(&suite.location.file)).filter(|name| suite.layout.may_share_directory(name))
}

fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn lies_in(directory: &str, source: &str) -> bool {
    directory.is_empty() || directory == "." || Path::new(source).starts_with(directory)
}

fn suite_changed(message: String) -> String {
    Diagnostic::<SourceRange>::new(Code::SuiteChanged, message).to_string()
}

fn changed(suite: &EvalSuite, added: &[String], removed: &[String]) -> String {
    let mut text = suite_changed(format!("the directory `{}` is not the one this test was built from", suite.root));
    text.push('\n');
    for (what, files) in [("added after the build", added), ("gone since the build", removed)] {
        for file in files.iter().take(SHOWN) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {what}: {file}");
        }
        if files.len() > SHOWN {
            let _ = writeln!(text, "  … and {} more {what}", files.len() - SHOWN);
        }
    }
    let tracked = tracked_directory(suite.root);
    let _ = write!(
        text,
        "help: rebuild; so that cargo sees such changes, add this line to `main` in build.rs\n      \
         (with `evalsuite-build` as build-dependency):\n          \
         evalsuite_build::track(\"{tracked}\");"
    );
    text
}

/// The directory to track in build.rs: the top-level directory, which may contain all suites.
fn tracked_directory(root: &str) -> &str {
    match root.split_once('/') {
        Some((first, _)) if !first.is_empty() && first != ".." => first,
        _ => root,
    }
}

/// Kind of the sources of a suite that are files which were read, besides those of cases.
const FILE: &str = "file";

/// The loader reads no larger file, in bytes.
const LARGEST: u64 = 16 << 20;

const HELP: &str =
    "help: rebuild in this package, and give each checkout a target directory of its own (CARGO_TARGET_DIR)";

/// What is wrong if this program was built elsewhere. The same files elsewhere are right: an archive of nextest may be run in any checkout.
fn other_checkout(suite: &EvalSuite, places: &SuiteLocation) -> Option<String> {
    let compiled = Path::new(suite.manifest_dir).join(suite.root);
    let here = places.suite_dir.canonicalize().ok()?;
    let built_from = compiled.canonicalize().ok();
    if built_from.as_ref() == Some(&here) {
        return package_without(suite, &compiled);
    }
    let differing = built_from.as_deref().and_then(|built_from| first_difference(built_from, &here));
    let what = match differing {
        Some(difference) => format!("differs from it in {difference}"),
        None if is_other_content(suite, places) => "has other files than those that were compiled".to_owned(),
        None => return None,
    };
    let is_gone = if built_from.is_none() { ", which does not exist any more," } else { "," };
    let built_from = built_from.unwrap_or(compiled);
    let message = format!("this test was built from {}{is_gone} and {} {what}", built_from.display(), here.display());
    Some(format!("{}\n{HELP}", suite_changed(message)))
}

/// The problem that the package that is tested does not have the suite, while that of the package that was compiled is still there. A program
/// with embedded files needs none.
fn package_without(suite: &EvalSuite, compiled: &Path) -> Option<String> {
    let tested = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let is_package = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == suite.package);
    let is_checkout = is_package && tested.join("Cargo.toml").is_file() && suite.embedded.is_none();
    let is_elsewhere = Path::new(suite.root).is_relative() && !tested.join(suite.root).exists();
    (is_checkout && is_elsewhere).then(|| {
        let message = format!(
            "this test was built from {}, and {} has no suite `{}`",
            compiled.display(),
            tested.display(),
            suite.root
        );
        format!("{}\n{HELP}", suite_changed(message))
    })
}

/// The files that differ between two directories: the first one, and how many others.
fn first_difference(built_from: &Path, here: &Path) -> Option<String> {
    let (then, now) = (digests(built_from), digests(here));
    let differ: BTreeSet<&String> = set(then.keys().chain(now.keys()).filter(|name| then.get(*name) != now.get(*name)));
    let first = differ.first()?;
    let more =
        if differ.len() > 1 { format!(" and {}", counted(differ.len() - 1, "other file")) } else { String::new() };
    Some(format!("`{first}`{more}"))
}

/// Digests of the files below a directory.
fn digests(directory: &Path) -> BTreeMap<String, String> {
    let digest = |found: io::Result<TreeEntry>| match found {
        Ok(found) if found.kind != EntryKind::File => None,
        Ok(found) => {
            let digest = found.open().map_err(io::Error::from).and_then(sha256_of_source);
            Some((found.name(), digest.unwrap_or_else(|error| error.to_string())))
        }
        // The message names the whole path: it differs from that of the other directory.
        Err(error) => Some((error.to_string(), String::new())),
    };
    map(walk(directory, is_ignored).filter_map(digest))
}

/// Whether the files of the suite that were read have another digest than at compile time.
fn is_other_content(suite: &EvalSuite, places: &SuiteLocation) -> bool {
    // Data that cannot be decoded is reported where it is used.
    let compiled = suite.data().map(|data| data.digest.clone()).unwrap_or_default();
    !compiled.is_empty() && content_digest(suite, places).is_none_or(|digest| digest != compiled)
}

/// The digest of the suite as the loader computes it, of the files as they are now; `None` if one cannot be read.
fn content_digest(suite: &EvalSuite, places: &SuiteLocation) -> Option<String> {
    let of_cases = suite.cases.iter().map(|case| case.source).filter(|source| !source.is_empty());
    let others = suite.sources.iter().filter(|(kind, _)| *kind == FILE).map(|(_, path)| *path);
    let mut content = Vec::new();
    for name in set(of_cases.chain(others)) {
        let file = read_package_file(&place_in(name, suite, places), LARGEST).ok()?;
        content.extend_from_slice(name.as_bytes());
        content.push(0);
        content.extend_from_slice(&digest_of_file(&file));
    }
    Some(sha256(content))
}

/// Where a file is now that was read at compile time. Those outside of the suite have whole paths.
fn place_in(name: &str, suite: &EvalSuite, places: &SuiteLocation) -> PathBuf {
    match Path::new(name).strip_prefix(suite.manifest_dir) {
        Ok(in_package) if Path::new(name).is_absolute() => places.package_root.join(in_package),
        _ => places.suite_dir.join(name),
    }
}

/// Runs the wanted cases of a suite, and prints how they end.
pub(crate) fn run_new_cases(evals: Evals, wanted: &[NewCase]) {
    let module = evals.suite().path_of_test("");
    let of_suite = |case: &NewCase| Some(NewCase { path: case.path.strip_prefix(&module)?.to_owned(), ..case.clone() });
    let wanted: Vec<NewCase> = wanted.iter().filter_map(of_suite).collect();
    let report = report(evals, &wanted);
    for NewCase { path, .. } in &wanted {
        let failed = |text: &str| failed(&module, path, text);
        let result = match &report {
            Err(error) => failed(&format!("evaluation error (setup): {error}")),
            Ok(report) => match report.cases().iter().find(|report| report.case().test_name == path) {
                Some(case) if case.fails_test() => failed(&case.to_string()),
                Some(case) if case.status() == Status::Skipped => "ignored".to_owned(),
                Some(_) => "ok".to_owned(),
                None if report.problems().is_empty() => failed("the suite has no such case"),
                None => failed(&report.problems().join("\n")),
            },
        };
        // The harness may have begun a line.
        print!("\ntest {module}{path} ... {result}\n");
    }
}

fn report(evals: Evals, wanted: &[NewCase]) -> Result<Report, RunError> {
    let run = RunCases::new(&evals, &RunOptions::new())?;
    let evals = reload::with_new_cases(evals, wanted)?;
    let is_wanted = |test: &str| wanted.iter().any(|case| case.path == test);
    let cases: Vec<_> = evals.suite().cases.iter().filter(|case| is_wanted(case.test_name)).collect();
    Ok(run.finish(&evals, &cases, &|| false))
}

fn failed(module: &str, path: &str, text: &str) -> String {
    format!("FAILED\n---- {module}{path} stdout ----\n{}\n\nfailures:", without_secrets(text).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_directory_of_all_suites() {
        assert_eq!(tracked_directory("suites/card_agent"), "suites");
        assert_eq!(tracked_directory("suite"), "suite");
        assert_eq!(tracked_directory("../shared/suites/x"), "../shared/suites/x");
        assert_eq!(tracked_directory("/abs/suites"), "/abs/suites");
    }

    #[test]
    fn a_case_belongs_to_the_directory_that_contains_it() {
        assert!(lies_in("tasks", "tasks/a/b.json"));
        assert!(!lies_in("cases", "EVAL.yaml"));
        assert!(lies_in("", "a/case.yaml"));
    }
}
