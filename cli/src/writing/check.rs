//! `cargo evalsuite check`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use evalsuite_codegen::expansion;
use evalsuite_diagnostics::{Diagnostic, Diagnostics, Severity, counted, render};
use evalsuite_loader::{Loaded, LoadedSuite, Request, find_targets_file, load, load_targets, registered_graders};
use evalsuite_schema::json;

use crate::command_line::{Check, Format};
use crate::locate::includes::Includes;
use crate::locate::{includes, suite_request};
use crate::platform::cli_error::{CliError, Exit, Result};
use crate::platform::output::{say, stdout};
use crate::writing::{explain, fixes};

/// Most rounds of `--fix`: what is behind a misspelled key is read once the key is right.
const MOST_FIXES: usize = 10;

/// Problems that are printed, at most: of more, the errors come first.
const MAX_PRINTED: usize = 1000;

/// Graders that were not checked and are listed, at most.
const MAX_UNCHECKED: usize = 100;

/// What suites use of a targets file.
struct TargetsUse {
    request: Request,
    /// The entries that they name.
    names: BTreeSet<String>,
}

pub(crate) fn run(command: &Check) -> Result<Exit> {
    let (suites, includes) = suites(command)?;
    if suites.is_empty() {
        return Err(CliError::with_help("no suite found", "name a suite: `cargo evalsuite check suites/my_agent`"));
    }
    let mut checked = check(&suites, &includes)?;
    for _ in 0..MOST_FIXES {
        if !command.fix || fixes::apply(&checked.0.diagnostics.clone().ungrouped(), &checked.1)? == 0 {
            break;
        }
        checked = check(&suites, &includes)?;
    }
    let (Found { mut diagnostics, tests, is_denied, unchecked, .. }, roots) = checked;
    // Suites share targets files, and a suite may be included twice: each problem is printed once.
    diagnostics.sort();
    let mut out = stdout();
    print(&mut out, command.format, &most_important(&diagnostics), &roots)?;
    if let Some(more) = diagnostics.len().checked_sub(MAX_PRINTED).filter(|more| *more > 0) {
        say!("note: {MAX_PRINTED} problems are printed, {more} more are not");
    }
    if command.format == Format::Human {
        let suites = counted(suites.len(), "suite");
        writeln!(out, "{} in {suites} with {}", render::summary(&diagnostics), counted(tests, "test"))?;
    }
    out.flush()?;
    if !unchecked.is_empty() {
        say!("note: no Rust code includes these suites, so graders that are not built in were not checked:");
        unchecked.iter().take(MAX_UNCHECKED).for_each(|grader| say!("  {grader}"));
        if let Some(more) = unchecked.len().checked_sub(MAX_UNCHECKED).filter(|more| *more > 0) {
            say!("  and {more} more");
        }
    }
    for call in &includes.unread {
        say!("note: the arguments of a call are not known: {call}");
    }
    let failed = is_denied || diagnostics.has_errors() || (command.deny_warnings && !diagnostics.is_empty());
    Ok(Exit::good_if(!failed))
}

/// Checks all suites; with what is wrong, the directories that paths are shown relative to.
fn check(suites: &[PathBuf], includes: &Includes) -> Result<(Found, BTreeSet<PathBuf>)> {
    let mut found = Found::default();
    let mut roots = BTreeSet::new();
    for suite in suites {
        let request = suite_request::request(suite)?;
        roots.insert(request.workspace_root.clone());
        found.check_suite(suite, request, includes);
    }
    found.check_targets_files();
    for tracked in &includes.tracked {
        // Those around the suites that are checked: cargo looks for changes in all of them before it builds one.
        if suites.iter().any(|suite| suite.starts_with(&tracked.package)) {
            found.diagnostics.append(tracked.problems());
        }
    }
    Ok((found, roots))
}

/// What is wrong with the suites.
#[derive(Default)]
struct Found {
    diagnostics: Diagnostics,
    /// Number of tests of the suites without errors.
    tests: usize,
    /// Whether the arguments of an include make an error of a warning.
    is_denied: bool,
    /// Graders that are not built in, of suites that nothing includes: a line each.
    unchecked: Vec<String>,
    /// The targets files of suites that nothing includes. Suites of a package often share one.
    targets_files: BTreeMap<PathBuf, TargetsUse>,
}

impl Found {
    /// Checks a suite as the compiler does for each of its includes; without one, the suite and what it names in a targets file.
    fn check_suite(&mut self, suite: &Path, request: Request, includes: &Includes) {
        let includes = includes.of_suite(suite);
        if includes.is_empty() {
            let Loaded { suite: loaded, diagnostics, files, user_graders, .. } = load(&request);
            self.unchecked.extend(registered_graders::unchecked(&user_graders, &files));
            self.diagnostics.append(diagnostics.grouped());
            if let Some(loaded) = &loaded {
                self.tests += loaded.tests.len();
                self.use_targets_file(suite, request, loaded);
            }
            drop_beside((loaded, files));
        }
        for include in includes {
            let (problems, loaded) = expansion::check(include.binding.clone(), &include.context);
            self.tests += loaded.as_ref().map_or(0, |loaded| loaded.tests.len());
            drop_beside(loaded);
            for problem in problems {
                self.is_denied |= problem.is_error();
                // Arguments that mean nothing are reported by the compiler where they are written.
                self.diagnostics.append(problem.as_diagnostic().cloned().into_iter().collect());
            }
        }
    }

    fn use_targets_file(&mut self, suite: &Path, request: Request, loaded: &LoadedSuite) {
        let Some(file) = targets_file(suite, &request) else { return };
        let used = self.targets_files.entry(file).or_insert_with(|| TargetsUse { request, names: BTreeSet::new() });
        used.names.extend(loaded.targets_file_entries().into_iter().map(str::to_owned));
    }

    /// Reports each targets file once, with the problems of the entries that suites name.
    fn check_targets_files(&mut self) {
        for (file, used) in &self.targets_files {
            let problems = load_targets(file, &used.request).problems_of(used.names.iter().map(String::as_str));
            self.diagnostics.append(problems.grouped());
        }
    }
}

/// Drops data beside what comes next, or not at all if the program ends before: of ten thousand cases it takes a sixth of the time.
fn drop_beside(data: impl Send + 'static) {
    std::thread::spawn(move || drop(data));
}

/// The suites of the package or workspace around a directory, with their includes.
pub(crate) fn suites_of(directory: &Path) -> Result<(Vec<PathBuf>, Includes)> {
    let found = suite_request::suites_around(directory);
    let around: Vec<PathBuf> = std::iter::once(directory.to_path_buf()).chain(found.iter().cloned()).collect();
    let includes = Includes::of_packages(&suite_request::packages_around(&around))?;
    let mut suites = with_parents(found, &includes);
    let others = includes.paths().filter(|path| suites.iter().all(|suite| !includes::is_same_suite(path, suite)));
    let others: BTreeSet<PathBuf> = others.map(Path::to_path_buf).collect();
    suites.extend(others);
    Ok((suites, includes))
}

/// The suites of the command line, or those of the package or workspace around the current directory, with their includes.
fn suites(command: &Check) -> Result<(Vec<PathBuf>, Includes)> {
    if command.paths.is_empty() {
        return suites_of(&std::env::current_dir()?);
    }
    let mut suites = Vec::new();
    let mut named = Vec::new();
    for path in &command.paths {
        let found = suite_request::suites_at(path)?;
        let path = suite_request::absolute(path)?;
        if found.contains(&path) {
            named.push(path);
        } else {
            suites.extend(found);
        }
    }
    let all: Vec<PathBuf> = named.iter().chain(&suites).cloned().collect();
    let includes = Includes::of_packages(&suite_request::packages_around(&all))?;
    named.extend(with_parents(suites, &includes));
    Ok((named, includes))
}

/// Replaces a directory of cases that no include names by the directory around it: that is the suite, whose file is missing.
fn with_parents(suites: Vec<PathBuf>, includes: &Includes) -> Vec<PathBuf> {
    let suite = |path: PathBuf| {
        let is_case_directory = path.is_dir() && path.file_name().is_some_and(|name| name == "cases");
        let parent = path.parent().filter(|parent| !parent.join("Cargo.toml").is_file());
        match parent {
            Some(parent) if is_case_directory && includes.of_suite(&path).is_empty() => parent.to_path_buf(),
            _ => path,
        }
    };
    suites.into_iter().map(suite).collect()
}

/// The nearest targets file of a suite.
pub(crate) fn targets_file(suite: &Path, request: &Request) -> Option<PathBuf> {
    let directory = if suite.is_dir() { suite } else { suite.parent().unwrap_or(suite) };
    find_targets_file(directory, &request.package_root)
}

/// The problems that are printed: all, or of very many the first errors.
fn most_important(diagnostics: &Diagnostics) -> Diagnostics {
    if diagnostics.len() <= MAX_PRINTED {
        return diagnostics.clone();
    }
    let mut printed: Vec<&Diagnostic> = diagnostics.iter().collect();
    printed.sort_by_key(|diagnostic| diagnostic.severity() != Severity::Error);
    printed.into_iter().take(MAX_PRINTED).cloned().collect()
}

fn print(out: &mut impl Write, format: Format, diagnostics: &Diagnostics, roots: &BTreeSet<PathBuf>) -> io::Result<()> {
    let each_place = || {
        let mut places = diagnostics.clone().ungrouped();
        places.sort();
        places
    };
    match format {
        Format::Human => {
            diagnostics.iter().try_for_each(|it| writeln!(out, "{}\n", render::text(it, render::Style::Colored)))
        }
        Format::Short => each_place().iter().try_for_each(|it| writeln!(out, "{}", render::one_line(it))),
        Format::Json => diagnostics.iter().try_for_each(|it| writeln!(out, "{}", json::to_string(&render::json(it))?)),
        Format::Sarif => {
            let places = each_place();
            let log = render::sarif(&places, &path_in_repository(roots), explain::sarif_help);
            writeln!(out, "{}", json::to_string(&log)?)
        }
        Format::Github => write!(out, "{}", render::github_annotations(diagnostics)),
    }
}

/// The path from the root of the repository to the directory that paths are shown relative to, with a `/` at its end if there is one.
fn path_in_repository(roots: &BTreeSet<PathBuf>) -> String {
    // Suites of several workspaces at once are seldom, and then in one repository at its root.
    let [root] = roots.iter().collect::<Vec<_>>()[..] else { return String::new() };
    let repository = root.ancestors().find(|directory| directory.join(".git").exists());
    let path = repository.and_then(|repository| root.strip_prefix(repository).ok());
    match path.map(|path| path.to_string_lossy().replace('\\', "/")) {
        Some(path) if !path.is_empty() => path + "/",
        _ => String::new(),
    }
}
