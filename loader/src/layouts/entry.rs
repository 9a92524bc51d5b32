//! The entry path, and the layout of the suite that it names, or what is in a directory without a suite.

use std::path::{Path, PathBuf};

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::discovery::{SKILL_EVALS, SKILL_FILE, SuiteFile};
use evalsuite_schema::{Layout, LayoutRules};

use super::{Found, ReadOutline, SuiteEntry, bare, cases, combined, skill, tasks};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths::{self, Roots};
use crate::fields::{self};
use crate::request::Request;
use crate::source::{Files, Span};

/// Finds the entry path of `request` and its layout.
pub(crate) fn find(request: &Request, files: &Files, d: &mut Diagnostics) -> Option<SuiteEntry> {
    let path = locate(request, files, d)?;
    let found = if path.is_file() { in_file(&path, files, d) } else { in_directory(&path, files, d) };
    let inside = path.starts_with(&request.package_root);
    if !inside {
        let shown = files.shown(&path);
        let message = format!("`{shown}` is outside the package");
        let help = "move the suite into the package: `cargo package` will not contain it";
        d.report(Code::SuiteOutsidePackage, Span::whole(files.add(&path)), message, help);
    }
    let Found { layout, outline, root, file } = found?;
    let LayoutRules { is_closed, has_one_base, .. } = layout.rules();
    let boundary = if inside && !is_closed { request.package_root.clone() } else { root.clone() };
    let is_named = path.parent() == Some(&root) && layout != Layout::Skill;
    let stem = if is_named { paths::file_stem(&path) } else { paths::file_name(&root) };
    let eval_dir = file.as_deref().and_then(Path::parent).unwrap_or(&root).to_path_buf();
    let roots = Roots {
        real_boundary: boundary.canonicalize().unwrap_or_else(|_| boundary.clone()),
        boundary,
        package_root: request.package_root.clone(),
        eval_dir,
        only_root: *has_one_base,
        suite_root: root,
    };
    if let Some(file) = file.as_deref().filter(|file| file.is_symlink())
        && let Some(reason) = roots.escape(file, &files.shown(file))
    {
        let place = Span::whole(files.add(file));
        return fields::reject(Code::PathEscape, place, reason, "copy the file into the suite", d);
    }
    Some(SuiteEntry { layout, outline, file, roots, stem })
}

fn locate(request: &Request, files: &Files, d: &mut Diagnostics) -> Option<PathBuf> {
    let written = request.entry.as_str();
    let base = match (&request.source_dir, written.starts_with("./")) {
        (Some(directory), true) => directory,
        _ => &request.package_root,
    };
    let path = paths::normalize(&base.join(written));
    let place = || Span::whole(files.add(&path));
    if let Some(reason) = paths::not_relative(written) {
        let help = "write it relative to the package's Cargo.toml, or start it with `./` for this source file";
        return fields::reject(Code::PathEscape, place(), format!("the entry path {reason}"), help, d);
    }
    if written.trim().is_empty() || !path.exists() {
        let message = format!("`{}` not found", files.shown(&path));
        let near = nearest_existing(&path).map(|path| format!("did you mean `{}`?", files.shown(&path)));
        let help = near.unwrap_or_else(|| format!("the path is relative to {}", base_of(request)));
        return fields::reject(Code::EntryNotFound, place(), message, help, d);
    }
    Some(path)
}

/// The directory that the entry path is relative to.
fn base_of(request: &Request) -> &'static str {
    if request.source_dir.is_some() && request.entry.starts_with("./") {
        "the directory of this source file"
    } else if request.package_root.join("Cargo.toml").is_file() {
        "the directory of the package's Cargo.toml"
    } else {
        "the current directory"
    }
}

/// The path with its first missing component replaced by the nearest name that exists, if all of it exists then.
fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let missing = path.ancestors().take_while(|part| !part.exists()).last()?;
    let near = missing.with_file_name(paths::nearest_entry(missing, |_| true)?);
    let rest = path.strip_prefix(missing).ok()?;
    let whole = if rest.as_os_str().is_empty() { near.clone() } else { near.join(rest) };
    Some(if whole.exists() { whole } else { near })
}

fn in_file(path: &Path, files: &Files, d: &mut Diagnostics) -> Option<Found> {
    let lower = paths::file_name(path).to_ascii_lowercase();
    if let Some(file) = SuiteFile::named(&lower) {
        return suite_file(path, file, files, d);
    }
    if let Some(found) = skill::with_file(path) {
        return Some(found);
    }
    if let Some((what, help)) = other_file(&lower) {
        let message = format!("`{}` is {what}, not a suite", files.shown(path));
        return fields::reject(Code::UnsupportedSuiteFile, Span::whole(files.add(path)), message, help, d);
    }
    // A name that is only an extension does not name a suite.
    let ends_with = |ending: &str| lower.len() > ending.len() && lower.ends_with(ending);
    if ends_with(".jsonl") {
        bare::warn_of_sidecar(path, files, d);
        return Some(Found::file(Layout::Bare, bare::outline, path));
    }
    if ends_with(".yaml") || ends_with(".yml") {
        return Some(Found::file(Layout::Cases, cases::outline, path));
    }
    let message = format!("`{}` is not a suite file", files.shown(path));
    let help = "name `suite.json`, an eval file such as `EVAL.yaml`, or a `.jsonl` file; a list of cases is read with `tests: ./file` from an EVAL.yaml";
    fields::reject(Code::UnsupportedSuiteFile, Span::whole(files.add(path)), message, help, d)
}

/// What a file with this name is that is no suite, and how it is checked.
fn other_file(name: &str) -> Option<(&'static str, &'static str)> {
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"))?;
    match stem {
        "targets" => Some((
            "a targets file",
            "name a suite, or a directory with suites: with each suite, the nearest targets file is checked",
        )),
        "case" => Some(("a case", "name its suite, with which its cases are checked")),
        "calibration" => Some(("a calibration file", "name its suite, with which it is checked")),
        _ => None,
    }
}

/// The layouts with a `suite.json`: the directory next to it that shows which one it is, and the function.
#[rustfmt::skip]
const SUITE_JSON_LAYOUTS: &[(&str, Layout, ReadOutline)] = &[
    (tasks::DIRECTORY, Layout::Tasks, tasks::outline),
    (combined::DIRECTORY, Layout::Combined, combined::outline),
];

/// The layout of a suite with this `suite.json`, and its function.
fn suite_json_layout(path: &Path, files: &Files, d: &mut Diagnostics) -> Option<(Layout, ReadOutline)> {
    let root = path.parent().unwrap_or(path);
    // Exact names, also where the file system does not care.
    let exists = |wanted: &str| {
        std::fs::read_dir(root)
            .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name() == wanted && entry.path().is_dir()))
    };
    let mut found = SUITE_JSON_LAYOUTS.iter().filter(|(directory, ..)| exists(directory));
    let (message, help) = match (found.next(), found.next()) {
        (Some((_, layout, outline)), None) => return Some((*layout, *outline)),
        (Some(_), Some(_)) => ("both `tasks/` and `cases/` exist next to `suite.json`", "keep one of them"),
        (None, _) => (
            "neither `tasks/` nor `cases/` exists next to `suite.json`",
            "create `tasks/` with one JSON file per task, or `cases/` with one directory per case",
        ),
    };
    d.report(Code::AmbiguousLayout, Span::whole(files.add(path)), message, help);
    None
}

fn suite_file(path: &Path, file: SuiteFile, files: &Files, d: &mut Diagnostics) -> Option<Found> {
    let (layout, outline) = match file {
        SuiteFile::Json => suite_json_layout(path, files, d)?,
        SuiteFile::Eval => (Layout::Cases, cases::outline as ReadOutline),
    };
    Some(Found::file(layout, outline, path))
}

fn in_directory(root: &Path, files: &Files, d: &mut Diagnostics) -> Option<Found> {
    let (shown, place) = (files.shown(root), || Span::whole(files.add(root)));
    let found = match evalsuite_schema::discovery::suite_files(root) {
        Ok(found) => found,
        Err(error) => {
            let message = format!("`{shown}`: {error}");
            return fields::reject(Code::UnreadableFile, place(), message, "fix its permissions", d);
        }
    };
    match found.as_slice() {
        [] if skill::is_in(root) => Some(skill::found(root)),
        [] if bare::has_case_directories(root) => {
            Some(Found { layout: Layout::Bare, outline: bare::outline, root: root.to_path_buf(), file: None })
        }
        [] => {
            d.push(no_suite_file(root, files));
            None
        }
        [(path, file)] => suite_file(path, *file, files, d),
        several => {
            let names: Vec<String> = several.iter().map(|(path, _)| paths::file_name(path)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let message = format!("found {} in `{shown}`", suggest::quoted(&names, "and"));
            fields::reject(Code::SeveralSuiteFiles, place(), message, "name one file in the macro", d)
        }
    }
}

/// Names that are listed, at most.
const LISTED: usize = 5;

/// The problem with the directory `root`.
fn no_suite_file(root: &Path, files: &Files) -> Diagnostic {
    let shown = files.shown(root);
    let (message, help) = found(root, &shown).unwrap_or_else(|| {
        let there = match names(root, |_| true)[..] {
            [] => "the directory is empty".to_owned(),
            ref names => {
                let first: Vec<&str> = names.iter().take(LISTED).map(String::as_str).collect();
                let more = names.len().saturating_sub(LISTED);
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!("found {}{more}", suggest::quoted(&first, if more.is_empty() { "and" } else { "," }))
            }
        };
        (
            format!("no suite file and no case directories in `{shown}`"),
            format!("write `{shown}/EVAL.yaml`, with its cases in `tests` or in `cases/<name>/case.yaml`; {there}"),
        )
    });
    Diagnostic::new(Code::NoSuiteFile, message).at(Span::whole(files.add(root))).help(help)
}

/// Something in `root` that is nearly a suite: the message and the help.
fn found(root: &Path, shown: &str) -> Option<(String, String)> {
    let write = format!("write `{shown}/EVAL.yaml` with `name: {}`", suite_name(root));
    let missing = format!("no suite file in `{shown}`");
    if root.join(SKILL_FILE).is_file() {
        let help = format!("write the evals of the skill: `{shown}/{SKILL_EVALS}`");
        return Some((format!("{missing}, which has a skill"), help));
    }
    if root.join(SKILL_EVALS).is_file() {
        let help = format!("move `evals` to the directory of the skill, which has its `{SKILL_FILE}`");
        return Some((format!("{missing}, which has evals of a skill but no `{SKILL_FILE}`"), help));
    }
    let cases = root.join("cases");
    if let Some(first) = names(&cases, super::bare::is_case_directory).first() {
        let message = format!("{missing}, which has cases such as `cases/{first}`");
        return Some((message, format!("{write}: it reads the cases in `cases/`")));
    }
    if let Some(first) = names(&cases, is_yaml).first() {
        let stem = paths::file_stem(Path::new(first));
        return Some((missing, format!("{write}, and move `cases/{first}` to `cases/{stem}/case.yaml`")));
    }
    if let Some(first) = names(root, is_suite).first() {
        let message = format!("`{shown}` is not a suite, but has suites in it");
        return Some((message, format!("name one of them: `{shown}/{first}`")));
    }
    let lines = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file();
    if let Some(first) = names(root, lines).first() {
        return Some((missing, format!("name the file of the cases: `{shown}/{first}`")));
    }
    if let [only] = &names(root, is_yaml)[..] {
        let help = format!("rename `{only}` to `EVAL.yaml`, or name `{shown}/{only}` as the suite");
        return Some((format!("{missing}: `{only}` is not a name of one"), help));
    }
    None
}

/// The names of what is in a directory and fits, in order, without hidden ones.
fn names(directory: &Path, fits: impl Fn(&Path) -> bool) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().filter(|entry| fits(&entry.path()));
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with(['.', '_']));
    names.sort();
    names
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") && path.is_file()
}

/// Whether a directory has a suite file.
fn is_suite(path: &Path) -> bool {
    let has_suite_file = || evalsuite_schema::discovery::suite_files(path).is_ok_and(|files| !files.is_empty());
    evalsuite_schema::discovery::is_skill(path) || path.is_dir() && has_suite_file()
}

/// A valid name of a suite, made of the directory's.
fn suite_name(root: &Path) -> String {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    let name = paths::file_name(root).to_lowercase().replace(|letter| !allowed(letter), "-");
    if name.is_empty() { "my-suite".to_owned() } else { name }
}
