//! `cargo evalsuite check`.

pub(crate) mod fixes;
mod package_checks;
mod sarif;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

use clap::{Args, ValueEnum};
use evalsuite_codegen::expansion;
use evalsuite_loader::{Loaded, Request, find_targets_file, load, load_targets, registered_graders};
use evalsuite_schema::diagnostics::{Diagnostic, Diagnostics, Severity, counted, render};

use crate::locate::includes;
use crate::locate::includes::Includes;
use crate::locate::suite_search::{self, relative, suite_directory};
use crate::platform::exit_status::{CommandStatus, Result};
use crate::platform::output::{say, stdout};

/// Check suites without compiling them
///
/// Reports the problems that the compiler would report, in all files; a problem with several places is printed once. In a package, the
/// arguments of `include_eval_suite!` and `evalsuite_build::generate` are read from its sources; calls whose arguments are not literals
/// are listed. Exit status: 0 if there are no problems, 1 if there are, 2 if a path does not exist, no suite was found or a file cannot be
/// written.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Suites, cases, or directories to search for suites [default: the case in the current directory, or the suites of its package or
    /// workspace]
    pub(crate) paths: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// Also exit with status 1 if there are warnings
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Apply the fixes that are safe: a misspelled name with one similar name, the old name of a key, a number where text is expected
    #[arg(long)]
    pub(crate) fix: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with the lines of the files
    #[value(alias = "text")]
    Human,
    /// One line per place, `FILE:LINE:COLUMN: error[E019]: MESSAGE`, for editors
    Short,
    /// One JSON object per line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub Actions annotations, at most ten of each kind
    Github,
}

/// Most rounds of `--fix`: what is behind a misspelled key is read once the key is right.
const MOST_FIXES: usize = 10;

/// Problems that are printed, at most: of more, the errors come first.
const MAX_PRINTED: usize = 1000;

/// Graders that were not checked and are listed, at most.
const MAX_UNCHECKED: usize = 100;

pub(crate) fn run(command: &Check) -> Result<CommandStatus> {
    let chosen = Chosen::new(command)?;
    let Chosen { suites, includes, .. } = &chosen;
    if suites.is_empty() {
        return Err(suite_search::no_suite_here()?);
    }
    // Cargo takes longer than the check of most suites: it runs beside it.
    let packages = if command.format == Format::Human { chosen.packages() } else { BTreeSet::new() };
    let notes = thread::spawn(move || packages.iter().filter_map(|package| feature_note(package)).collect::<Vec<_>>());
    let mut found = check(&chosen)?;
    for _ in 0..MOST_FIXES {
        if !command.fix || fixes::apply(&found.diagnostics.clone().ungrouped(), &found.roots)? == 0 {
            break;
        }
        found = check(&chosen)?;
    }
    let Found { mut diagnostics, tests, is_denied, unchecked, elsewhere, roots, .. } = found;
    // Suites share targets files, and a suite may be included twice: each problem is printed once.
    diagnostics.sort();
    let mut out = stdout();
    print(&mut out, command.format, &most_important(&diagnostics), &roots)?;
    if let Some(more) = diagnostics.len().checked_sub(MAX_PRINTED).filter(|more| *more > 0) {
        say!("note: the first {MAX_PRINTED} problems are printed; there are {more} more");
    }
    if command.format == Format::Human {
        writeln!(out, "{} in {}", render::summary(&diagnostics), chosen.described(tests)?)?;
    }
    out.flush()?;
    let notes = notes.join().unwrap_or_default();
    for (suite, problems) in elsewhere {
        let suite = relative(&suite)?;
        let count = counted(problems, "problem");
        say!("note: {count} in other cases of this suite; `cargo evalsuite check {suite}` shows all of them");
    }
    if !unchecked.is_empty() {
        say!("note: no Rust code includes these suites, so their own graders were not checked:");
        unchecked.iter().take(MAX_UNCHECKED).for_each(|grader| say!("  {grader}"));
        if let Some(more) = unchecked.len().checked_sub(MAX_UNCHECKED).filter(|more| *more > 0) {
            say!("  and {more} more");
        }
    }
    for call in &includes.unread {
        say!("note: cannot read the arguments of a call: {call}");
    }
    for note in notes {
        say!("{note}");
    }
    let failed = is_denied || diagnostics.has_errors() || (command.deny_warnings && !diagnostics.is_empty());
    Ok(CommandStatus::good_if(!failed))
}

/// What differs between the agent of a package and the agent in its tests, or why it is not known.
fn feature_note(package: &Path) -> Option<String> {
    package_checks::note(package).unwrap_or_else(|error| {
        Some(format!("note: the features of `cargo build` and `cargo test` were not compared: {error}"))
    })
}

/// The tools that graders of the suites here name, and that no agent called.
pub(crate) fn uncalled_tools() -> Result<Diagnostics> {
    let (suites, includes) = suites_here()?;
    let mut all = Diagnostics::new();
    for suite in suites {
        let included = includes.of_suite(&suite).first().map(|include| include.context.request.clone());
        let request = included.map_or_else(|| suite_search::request(&suite), Ok)?;
        if let Some(loaded) = load(&request).suite {
            all.append(package_checks::uncalled(&suite, &request, &loaded)?);
        }
    }
    Ok(all)
}

/// Checks all suites.
fn check(chosen: &Chosen) -> Result<Found> {
    let Chosen { suites, includes, cases } = chosen;
    let mut found = Found::default();
    for suite in suites {
        let request = suite_search::request(suite)?;
        let root = request.workspace_root.clone();
        let mut problems = found.check_suite(suite, request, includes)?;
        if let Some(cases) = cases.get(suite) {
            problems = found.leave_out_other_cases(problems, suite, cases, &root);
        }
        found.diagnostics.append(problems);
        found.roots.insert(root);
    }
    // Each targets file once, with the problems of the entries that suites name.
    for (file, (request, names)) in &found.targets_files {
        let problems = load_targets(file, request).problems_of(names.iter().map(String::as_str));
        found.diagnostics.append(problems.grouped());
    }
    for tracked in &includes.tracked {
        // Those around the suites that are checked: cargo looks for changes in all of them before it builds one.
        if suites.iter().any(|suite| suite.starts_with(&tracked.package)) {
            found.diagnostics.append(tracked.problems());
        }
    }
    Ok(found)
}

/// What is wrong with the suites.
#[derive(Default)]
struct Found {
    diagnostics: Diagnostics,
    /// The directories that paths are shown relative to.
    roots: BTreeSet<PathBuf>,
    /// Number of tests of the suites without errors.
    tests: usize,
    /// Whether the arguments of an include make an error of a warning.
    is_denied: bool,
    /// Graders that are not built in, of suites that nothing includes: a line each.
    unchecked: Vec<String>,
    /// The targets files of suites that nothing includes, with the request for one of the suites and the entries that they name. Suites of a
    /// package often share one.
    targets_files: BTreeMap<PathBuf, (Request, BTreeSet<String>)>,
    /// Number of problems that are not those of the chosen cases, by suite.
    elsewhere: BTreeMap<PathBuf, usize>,
}

impl Found {
    /// The problems of a suite without those of cases that were not chosen. Problems of the suite itself concern every case.
    fn leave_out_other_cases(
        &mut self,
        problems: Diagnostics,
        suite: &Path,
        cases: &[PathBuf],
        root: &Path,
    ) -> Diagnostics {
        let directory = suite_directory(suite);
        let is_chosen = |file: &Path| {
            let is_of_suite = !file.starts_with(directory) || file.parent() == Some(directory);
            is_of_suite || cases.iter().any(|case| file.starts_with(case))
        };
        let mut problems = problems.ungrouped();
        let all = problems.len();
        problems.retain(|problem| {
            let mut places =
                problem.place.iter().chain(problem.related.iter().map(|related| &related.place)).peekable();
            places.peek().is_none() || places.any(|place| is_chosen(&root.join(&place.file)))
        });
        if let left_out @ 1.. = all - problems.len() {
            self.elsewhere.insert(suite.to_path_buf(), left_out);
        }
        problems.grouped()
    }

    /// Checks a suite as the compiler does for each of its includes; without one, the suite and what it names in a targets file.
    fn check_suite(&mut self, suite: &Path, request: Request, includes: &Includes) -> Result<Diagnostics> {
        let mut all = Diagnostics::new();
        let includes = includes.of_suite(suite);
        if includes.is_empty() {
            let Loaded { suite: loaded, diagnostics, files, user_graders, .. } = load(&request);
            self.unchecked.extend(registered_graders::unchecked(&user_graders, &files));
            all.append(diagnostics.grouped());
            if let Some(loaded) = &loaded {
                self.tests += loaded.tests.len();
                all.append(package_checks::uncalled(suite, &request, loaded)?);
                if let Some(file) = targets_file(suite, &request) {
                    let names = loaded.targets_file_entries().into_iter().map(str::to_owned);
                    self.targets_files.entry(file).or_insert((request, BTreeSet::new())).1.extend(names);
                }
            }
            drop_beside((loaded, files));
        }
        for include in includes {
            let (problems, loaded) = expansion::check(include.binding.clone(), &include.context);
            if let Some(loaded) = &loaded {
                self.tests += loaded.tests.len();
                all.append(package_checks::uncalled(suite, &include.context.request, loaded)?);
            }
            drop_beside(loaded);
            for problem in problems {
                self.is_denied |= problem.is_error();
                // Arguments that mean nothing are reported by the compiler where they are written.
                all.append(problem.as_diagnostic().cloned().into_iter().collect());
            }
        }
        Ok(all)
    }
}

/// Drops data beside what comes next, or not at all if the program ends before: of ten thousand cases it takes a sixth of the time.
fn drop_beside(data: impl Send + 'static) {
    thread::spawn(move || drop(data));
}

/// The suites of the package or workspace around a directory, with their includes.
#[cfg(feature = "lsp")]
pub(crate) fn suites_of(directory: &Path) -> Result<(Vec<PathBuf>, Includes)> {
    with_included(suite_search::suites_around(directory), directory)
}

/// The suites of the package or workspace around the current directory, with their includes.
pub(crate) fn suites_here() -> Result<(Vec<PathBuf>, Includes)> {
    with_included(suite_search::suites_here()?, &std::env::current_dir()?)
}

/// Suites that were found around a directory, and those that are included there, with their includes.
fn with_included(found: Vec<PathBuf>, directory: &Path) -> Result<(Vec<PathBuf>, Includes)> {
    let around: Vec<PathBuf> = std::iter::once(directory.to_path_buf()).chain(found.iter().cloned()).collect();
    let includes = Includes::of_packages(&suite_search::packages_around(&around))?;
    let mut suites = with_parents(found, &includes);
    let others = includes.paths().filter(|path| suites.iter().all(|suite| !includes::is_same_suite(path, suite)));
    let others: BTreeSet<PathBuf> = others.map(Path::to_path_buf).collect();
    suites.extend(others);
    Ok((suites, includes))
}

/// What is checked.
struct Chosen {
    suites: Vec<PathBuf>,
    includes: Includes,
    /// The cases that were named, as files and directories by suite. Suites that are not here are checked whole.
    cases: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Chosen {
    /// What the command line names, else the case in the current directory, else the suites of the package or workspace around it.
    fn new(command: &Check) -> Result<Self> {
        let mut paths = command.paths.clone();
        if paths.is_empty() && suite_search::has_case_file(&std::env::current_dir()?) {
            paths.push(".".into());
        }
        if paths.is_empty() {
            let (suites, includes) = suites_here()?;
            return Ok(Self { suites, includes, cases: BTreeMap::new() });
        }
        let mut below = Vec::new();
        let mut named = Vec::new();
        let mut cases: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for path in &paths {
            let path = suite_search::existing(path)?;
            let suites = suite_search::suites_of_case(&path);
            let case = path.parent().filter(|parent| path.is_file() && suite_search::has_case_file(parent));
            for suite in &suites {
                cases.entry(suite.clone()).or_default().push(case.unwrap_or(&path).to_path_buf());
            }
            if suites.is_empty() {
                match suite_search::suites_at(&path)? {
                    found if found.contains(&path) => named.push(path),
                    found => below.extend(found),
                }
            }
        }
        cases.retain(|suite, _| !named.contains(suite) && !below.contains(suite));
        below.extend(cases.keys().cloned());
        let all: Vec<PathBuf> = named.iter().chain(&below).cloned().collect();
        let includes = Includes::of_packages(&suite_search::packages_around(&all))?;
        named.extend(with_parents(below, &includes));
        let mut seen = BTreeSet::new();
        named.retain(|suite| seen.insert(suite.clone()));
        Ok(Self { suites: named, includes, cases })
    }

    /// The packages that include the suites; none if only some cases are checked.
    fn packages(&self) -> BTreeSet<PathBuf> {
        if !self.cases.is_empty() {
            return BTreeSet::new();
        }
        let includes = self.suites.iter().flat_map(|suite| self.includes.of_suite(suite));
        includes.map(|include| include.context.request.package_root.clone()).collect()
    }

    /// What was checked, in words.
    fn described(&self, tests: usize) -> Result<String> {
        let mut cases: Vec<&PathBuf> = self.cases.values().flatten().collect();
        cases.dedup();
        match cases[..] {
            [case] if self.suites.len() == 1 => Ok(format!("`{}`", relative(case)?)),
            [_, ..] if self.suites.iter().all(|suite| self.cases.contains_key(suite)) => {
                Ok(counted(cases.len(), "path"))
            }
            _ => Ok(format!("{} with {}", counted(self.suites.len(), "suite"), counted(tests, "test"))),
        }
    }
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
    find_targets_file(suite_directory(suite), &request.package_root)
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
        Format::Json => diagnostics.iter().try_for_each(|it| writeln!(out, "{}", render::json(it))),
        Format::Sarif => sarif::write(out, &each_place(), roots),
        Format::Github => write!(out, "{}", render::github_annotations(diagnostics)),
    }
}
