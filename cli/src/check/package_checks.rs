//! What `check` says of a package beyond its suites: features of crates that only its tests have, and names of tools in graders that no
//! agent has called, which are known only after a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use evalsuite_loader::{LoadedSuite, Request, workspace_root};
use evalsuite_records::run_data::{RunData, SuiteData, TrialFiles};
use evalsuite_records::run_directory::OutputDirectory;
use evalsuite_schema::diagnostics::suggest::{did_you_mean, quoted};
use evalsuite_schema::diagnostics::{Code, Diagnostic, Diagnostics, counted};
use evalsuite_schema::discovery::with_slashes;
use evalsuite_schema::{Grader, Location, Value};

use crate::locate::stored_runs::output_path_of;
use crate::locate::suite_search::suite_directory;
use crate::platform::cargo_process::cargo;
use crate::platform::exit_status::{CliError, ErrorContext, Result};

/// Features that leave a program as it is.
const ADDITIVE: &str = include_str!("../../assets/additive_features.txt");

/// Crates that are listed, at most.
const MAX_CRATES: usize = 20;

/// Features of a crate that are listed, at most.
const MAX_FEATURES: usize = 5;

/// Edges of the tree without the tests. Build scripts and macros are other programs.
const PRODUCTION: &str = "normal,no-proc-macro";

/// Edges of the tree with the tests.
const TESTS: &str = "features,normal,dev,no-proc-macro";

/// What `cargo test` changes in the crates that a package shares with its dev-dependencies, as a note; `None` if it is nothing that changes
/// what the package does, or if the package has no `Cargo.lock` yet.
pub(crate) fn note(package: &Path) -> Result<Option<String>> {
    if !workspace_root(package).join("Cargo.lock").is_file() {
        return Ok(None);
    }
    // Each call takes a fifth of a second.
    let (production, tests) = thread::scope(|scope| {
        let tests = scope.spawn(|| tree(package, TESTS));
        (tree(package, PRODUCTION), tests.join())
    });
    let tests = tests.unwrap_or_else(|_| Err(CliError::new("reading the tree of tests panicked")))?;
    let production = production?;
    let (production, tests) = (Tree::read(&production), Tree::read(&tests));
    let differences = differences(&production.features, tests.features.clone());
    if differences.is_empty() {
        return Ok(None);
    }
    let package = tests.root.map(name).unwrap_or_default();
    let mut note = format!(
        "note: in its tests, `{package}` runs with features of crates that `cargo build` leaves out, and may behave differently:"
    );
    for (krate, features) in differences.iter().take(MAX_CRATES) {
        let origins = listed(tests.origins(name(krate), features), usize::MAX);
        // A write to a string cannot fail.
        let _ = write!(note, "\n  {}: {} (from {origins})", name(krate), listed(features, MAX_FEATURES));
    }
    if let Some(more) = differences.len().checked_sub(MAX_CRATES).filter(|more| *more > 0) {
        let _ = write!(note, "\n  and {}", counted(more, "more crate"));
    }
    Ok(Some(note))
}

/// The features of each crate, as `cargo tree` names it: with its version.
type Features<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

/// What cargo compiles for a package: crates and their features, and who asks for them.
#[derive(Default)]
struct Tree<'t> {
    /// The package itself.
    root: Option<&'t str>,
    features: Features<'t>,
    /// Crates and features of crates, as cargo prints them, by those that they ask for. A feature is printed without the version of its crate.
    parents: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

impl<'t> Tree<'t> {
    /// Reads lines of a depth and a feature, or a crate and its features. What a line asks for is below the first line with this text.
    fn read(tree: &'t str) -> Self {
        let mut read = Self::default();
        let mut path: Vec<&str> = Vec::new();
        for line in tree.lines() {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let Ok(depth) = line[..digits].parse::<usize>() else { continue };
            let node = line[digits..].trim_end().trim_end_matches("(*)").trim_end();
            let node = match node.split_once('|') {
                Some((krate, features)) => {
                    let features = features.split(',').filter(|feature| !feature.is_empty());
                    read.features.entry(krate).or_default().extend(features);
                    krate
                }
                None => node,
            };
            path.truncate(depth);
            match path.last() {
                Some(parent) => _ = read.parents.entry(node).or_default().insert(parent),
                None => read.root = read.root.or(Some(node)),
            }
            path.push(node);
        }
        read
    }

    /// The dependencies of the package that enable features of a crate, in words.
    fn origins(&self, krate: &str, features: &BTreeSet<&str>) -> BTreeSet<String> {
        let mut origins = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let starts: Vec<String> = features.iter().map(|feature| format!("{krate} feature \"{feature}\"")).collect();
        let mut open: Vec<&str> = starts.iter().map(String::as_str).collect();
        while let Some(node) = open.pop() {
            for parent in self.parents.get(node).into_iter().flatten() {
                if Some(*parent) == self.root {
                    origins.insert(described(node, krate));
                } else if seen.insert(*parent) {
                    open.push(parent);
                }
            }
        }
        origins
    }
}

/// The features that crates of the package have in tests only, without those that change nothing.
fn differences<'t>(production: &Features<'_>, tests: Features<'t>) -> Features<'t> {
    let mut differences = tests;
    differences.retain(|krate, features| match production.get(krate) {
        Some(known) => {
            features.retain(|feature| !known.contains(feature) && !is_additive(name(krate), feature));
            !features.is_empty()
        }
        None => false,
    });
    differences
}

/// A dependency of the package, as `cargo tree` prints it, in words.
fn described(node: &str, krate: &str) -> String {
    if name(node) == krate {
        return "the dev-dependency itself".to_owned();
    }
    match node.split_once(" feature ") {
        Some((krate, feature)) if feature != "\"default\"" => {
            format!("the feature `{}` of `{krate}`", feature.trim_matches('"'))
        }
        _ => format!("`{}`", name(node)),
    }
}

fn listed(texts: impl IntoIterator<Item = impl ToString>, most: usize) -> String {
    let mut listed: Vec<String> = texts.into_iter().map(|text| text.to_string()).collect();
    if let Some(more) = listed.len().checked_sub(most).filter(|more| *more > 0) {
        listed.truncate(most);
        listed.push(format!("{more} more"));
    }
    listed.join(", ")
}

fn name(krate: &str) -> &str {
    krate.split(' ').next().unwrap_or(krate)
}

/// What cargo compiles for a package, from its `Cargo.lock` and the crates that were downloaded.
fn tree(package: &Path, edges: &str) -> Result<String> {
    let mut tree = cargo();
    tree.args([
        "tree",
        "--quiet",
        "--offline",
        "--locked",
        "--color",
        "never",
        "--prefix",
        "depth",
        "--format",
        "{p}|{f}",
    ]);
    tree.args(["--edges", edges]).current_dir(package);
    let output = tree.stdin(Stdio::null()).output().of(&tree)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let line = message.lines().next().unwrap_or_default();
        return Err(CliError::new(line.strip_prefix("error: ").unwrap_or(line)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a feature leaves a program as it is.
fn is_additive(krate: &str, feature: &str) -> bool {
    let is_listed = |name: &str| {
        let lines = ADDITIVE.lines().filter_map(|line| line.split_once(": ")).filter(|(line, _)| *line == name);
        lines.flat_map(|(_, features)| features.split(' ')).any(|listed| match listed.strip_suffix('*') {
            Some(prefix) => feature.starts_with(prefix),
            None => listed == feature,
        })
    };
    (is_listed(krate) || is_listed("*")) && !is_listed(&format!("not {krate}"))
}

/// Runs in which a suite is looked for, the newest first.
const MOST_RUNS: usize = 5;

/// Called tools that are named where none is similar, at most.
const MOST_NAMED: usize = 5;

/// A warning for each tool that a single grader names, and that no trial of the newest run of the suite called. A tool that must not be
/// called is only reported if the name is close to that of a called one.
pub(super) fn uncalled(suite: &Path, request: &Request, loaded: &LoadedSuite) -> Result<Diagnostics> {
    let mut named: BTreeMap<&str, Vec<(&Location, bool)>> = BTreeMap::new();
    for grader in loaded.cases.iter().flat_map(|loaded| loaded.case.all_graders()).flat_map(Grader::with_members) {
        for (name, is_wanted) in names(grader) {
            let places = named.entry(name).or_default();
            if places.iter().all(|(place, _)| *place != &grader.location) {
                places.push((&grader.location, is_wanted));
            }
        }
    }
    // A name that two graders have is no slip. A pattern may match what no agent has called yet.
    named.retain(|name, places| places.len() == 1 && !name.contains(['*', '?']));
    if named.is_empty() {
        return Ok(Diagnostics::new());
    }
    let Some((run, called)) = called_tools(suite, request)? else { return Ok(Diagnostics::new()) };
    let problem = |(name, places): (&&str, &Vec<(&Location, bool)>)| {
        let (place, is_wanted) = *places.first()?;
        let meant = did_you_mean(name, called.iter().map(String::as_str));
        if called.contains(*name) || (!is_wanted && meant.is_none()) {
            return None;
        }
        let known: Vec<&str> = called.iter().map(String::as_str).take(MOST_NAMED).collect();
        let help = meant.unwrap_or_else(|| format!("agents called {}", quoted(&known, "and")));
        let message = format!("no agent called a tool `{name}` in run {run}, and no other grader names it");
        Some(Diagnostic::new(Code::UncalledTool, message).at(place).help(help))
    };
    Ok(named.iter().filter_map(problem).collect())
}

/// The tools that a grader names, and whether they have to be called.
fn names(grader: &Grader) -> Vec<(&str, bool)> {
    let tools = grader.config.settings().tools();
    tools.into_iter().map(|(name, is_wanted)| (name, is_wanted && !grader.negate)).collect()
}

/// The tools that trials of the newest run with calls of the suite called, and the id of the run.
fn called_tools(suite: &Path, request: &Request) -> Result<Option<(String, BTreeSet<String>)>> {
    let directory = suite_directory(suite);
    let path = with_slashes(directory.strip_prefix(&request.package_root).unwrap_or(directory));
    let package = with_slashes(request.package_root.strip_prefix(&request.workspace_root).unwrap_or(Path::new("")));
    let package = if package.is_empty() { ".".to_owned() } else { package };
    let is_it = |suite: &&SuiteData| suite.id.path == path && suite.id.package_directory == package;
    let output = OutputDirectory::new(output_path_of(&request.package_root)?);
    for stored in output.runs_newest_first()?.into_iter().take(MOST_RUNS) {
        let run = RunData::read(stored.path())?;
        let cases = run.suites.iter().filter(is_it).flat_map(|suite| &suite.cases);
        let mut called = BTreeSet::new();
        for trial in cases.flat_map(|case| &case.trials) {
            // What cannot be read is a problem of the run, not of the suite.
            let trajectory = TrialFiles::read_without_texts(&run, trial, &mut Vec::new()).trajectory;
            called.extend(trajectory.iter().flat_map(tools_of));
        }
        if !called.is_empty() {
            return Ok(Some((run.run_id, called)));
        }
    }
    Ok(None)
}

/// The tools that a transcript has calls of.
fn tools_of(document: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let calls = list(&document["steps"]).into_iter().flat_map(|step| list(&step["tool_calls"]));
    calls.filter_map(|call| call["function_name"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCTION: &str = "0agent v0.1.0 (/agent)|\n\
        1serde_json v1.0.1|default,std\n\
        2memchr v2.8.3|\n\
        1num-traits v0.2.19|\n\
        1regex-syntax v0.8.11|std\n";

    const TESTS: &str = "0agent v0.1.0 (/agent)|\n\
        1serde_json feature \"default\"\n\
        2serde_json v1.0.1|default,preserve_order,std\n\
        3memchr v2.8.3|alloc,std\n\
        1num-traits v0.2.19|std\n\
        1evalsuite feature \"unicode-patterns\"\n\
        2evalsuite v0.1.0 (/evalsuite)|default,unicode-patterns\n\
        2fancy-regex feature \"unicode\"\n\
        3regex-syntax feature \"unicode-perl\"\n\
        4regex-syntax v0.8.11|std,unicode-perl\n\
        1validate feature \"default\"\n\
        2validate v1.0.0|default\n\
        3fancy-regex feature \"unicode\" (*)\n\
        3ahash v0.8.12|runtime-rng\n\
        3num-traits feature \"std\"\n\
        4num-traits v0.2.19|std (*)\n\
        1insta v1.0.0|\n\
        2serde_json feature \"preserve_order\"\n";

    #[test]
    fn features_of_tests_that_change_a_shared_crate_are_differences() {
        let found = differences(&Tree::read(PRODUCTION).features, Tree::read(TESTS).features);
        let expected = Features::from([
            ("num-traits v0.2.19", BTreeSet::from(["std"])),
            ("regex-syntax v0.8.11", BTreeSet::from(["unicode-perl"])),
            ("serde_json v1.0.1", BTreeSet::from(["preserve_order"])),
        ]);
        assert_eq!(found, expected);
    }

    #[test]
    fn the_dependencies_of_the_package_that_enable_a_feature_are_named() {
        let tree = Tree::read(TESTS);
        let origins = |krate: &str, feature: &str| listed(tree.origins(krate, &BTreeSet::from([feature])), 9);
        assert_eq!(origins("serde_json", "preserve_order"), "`insta`");
        assert_eq!(origins("num-traits", "std"), "`validate`");
        let expected = "`validate`, the feature `unicode-patterns` of `evalsuite`";
        assert_eq!(origins("regex-syntax", "unicode-perl"), expected);
    }
}
