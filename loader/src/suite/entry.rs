//! The entry path, and the layout of the suite that it names.

use std::path::{Path, PathBuf};

use super::no_suite_file;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::fields::paths;
use crate::fields::paths::Roots;
use crate::request::Request;
use crate::source::{Files, Span};
use evalsuite_diagnostics::suggest;

/// The directory of cases; the case of its letters matters.
const TASKS: &str = "tasks";
const CASES: &str = "cases";

/// What was found at the entry path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `suite.json` with `tasks/`.
    Tasks { suite_json: PathBuf },
    /// `suite.json` with `cases/`.
    Combined { suite_json: PathBuf },
    /// An eval file.
    Cases { eval_file: PathBuf },
    /// Case directories without a suite file.
    Directories,
    /// A JSONL file.
    Lines { file: PathBuf },
}

impl Layout {
    /// The file of the suite, if it has one.
    fn file(&self) -> Option<&Path> {
        match self {
            Layout::Tasks { suite_json: file }
            | Layout::Combined { suite_json: file }
            | Layout::Cases { eval_file: file }
            | Layout::Lines { file } => Some(file),
            Layout::Directories => None,
        }
    }
}

/// An entry that was found.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) layout: Layout,
    pub(crate) roots: Roots,
    /// Last component of the entry path; for files the stem.
    pub(crate) stem: String,
}

/// Finds the entry path of `request` and its layout.
pub(crate) fn find(request: &Request, files: &Files, d: &mut Diagnostics) -> Option<Entry> {
    let path = locate(request, files, d)?;
    let is_file = path.is_file();
    let root = if is_file { path.parent().unwrap_or(&path).to_path_buf() } else { path.clone() };
    let layout = if is_file { file_layout(&path, files, d) } else { directory_layout(&root, files, d) };
    let inside = path.starts_with(&request.package_root);
    if !inside {
        let shown = files.shown(&path);
        d.push(
            Diagnostic::new(Code::SuiteOutsidePackage, format!("`{shown}` is outside the package"))
                .at(Span::whole(files.add(&path)))
                .help("move the suite into the package: `cargo package` will not contain it"),
        );
    }
    let layout = layout?;
    let boundary =
        if inside && !matches!(layout, Layout::Tasks { .. }) { request.package_root.clone() } else { root.clone() };
    let stem = if is_file { paths::file_stem(&path) } else { paths::file_name(&path) };
    let roots = Roots {
        real_boundary: boundary.canonicalize().unwrap_or_else(|_| boundary.clone()),
        boundary,
        package_root: request.package_root.clone(),
        eval_dir: root.clone(),
        only_root: matches!(layout, Layout::Tasks { .. }),
        suite_root: root,
    };
    if let Some(file) = layout.file().filter(|file| file.is_symlink())
        && let Some(reason) = roots.escape(file, &files.shown(file))
    {
        d.report(Code::PathEscape, Span::whole(files.add(file)), reason, "copy the file into the suite");
        return None;
    }
    Some(Entry { layout, roots, stem })
}

fn locate(request: &Request, files: &Files, d: &mut Diagnostics) -> Option<PathBuf> {
    let written = request.entry.as_str();
    let base = match (&request.source_dir, written.starts_with("./")) {
        (Some(directory), true) => directory,
        _ => &request.package_root,
    };
    let path = paths::normalize(&base.join(written));
    let whole = |path: &Path| Span::whole(files.add(path));
    if let Some(reason) = paths::not_relative(written) {
        d.report(
            Code::PathEscape,
            whole(&path),
            format!("the entry path {reason}"),
            "write it relative to the package's Cargo.toml, or start it with `./` for this source file",
        );
        return None;
    }
    if written.trim().is_empty() || !path.exists() {
        let shown = files.shown(&path);
        let near = nearest_existing(&path).map(|path| format!("did you mean `{}`?", files.shown(&path)));
        d.push(
            Diagnostic::new(Code::EntryNotFound, format!("`{shown}` not found"))
                .at(whole(&path))
                .help(near.unwrap_or_else(|| format!("the path is relative to {}", base_of(request)))),
        );
        return None;
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

fn file_layout(path: &Path, files: &Files, d: &mut Diagnostics) -> Option<Layout> {
    let lower = paths::file_name(path).to_ascii_lowercase();
    if lower == "suite.json" {
        return suite_json_layout(path, files, d);
    }
    // A name that is only an extension does not name a suite.
    let ends_with = |ending: &str| lower.len() > ending.len() && lower.ends_with(ending);
    if ends_with(".jsonl") {
        warn_of_sidecar(path, files, d);
        return Some(Layout::Lines { file: path.to_path_buf() });
    }
    if ends_with(".yaml") || ends_with(".yml") {
        return Some(Layout::Cases { eval_file: path.to_path_buf() });
    }
    let shown = files.shown(path);
    d.report(
        Code::UnsupportedSuiteFile,
        Span::whole(files.add(path)),
        format!("`{shown}` is not a suite file"),
        "name `suite.json`, an eval file such as `EVAL.yaml`, or a `.jsonl` file; a list of cases is read with `tests: ./file` from an EVAL.yaml",
    );
    None
}

/// YAML next to a JSONL entry looks as if it were read with it.
fn warn_of_sidecar(path: &Path, files: &Files, d: &mut Diagnostics) {
    for ending in ["yaml", "yml", "eval.yaml", "eval.yml"] {
        let sidecar = path.with_extension(ending);
        if sidecar.is_file() {
            let shown = files.shown(&sidecar);
            d.push(
                Diagnostic::new(
                    Code::NoEffect,
                    format!("`{shown}` has no effect: the entry path names the `.jsonl` file next to it"),
                )
                .at(Span::whole(files.add(&sidecar)))
                .help("name the YAML file in the macro, and the `.jsonl` file in its `tests`"),
            );
        }
    }
}

fn directory_layout(root: &Path, files: &Files, d: &mut Diagnostics) -> Option<Layout> {
    let mut found: Vec<String> = match std::fs::read_dir(root) {
        Ok(entries) => entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_suite_file(name) && root.join(name).is_file())
            .collect(),
        Err(error) => {
            let shown = files.shown(root);
            d.report(
                Code::UnreadableFile,
                Span::whole(files.add(root)),
                format!("`{shown}`: {error}"),
                "fix its permissions",
            );
            return None;
        }
    };
    found.sort();
    let shown = files.shown(root);
    match found.as_slice() {
        [] if has_case_directories(root) => Some(Layout::Directories),
        [] => {
            d.push(no_suite_file::problem(root, files));
            None
        }
        [only] => {
            let path = root.join(only);
            if only.eq_ignore_ascii_case("suite.json") {
                suite_json_layout(&path, files, d)
            } else {
                Some(Layout::Cases { eval_file: path })
            }
        }
        several => {
            let names: Vec<&str> = several.iter().map(String::as_str).collect();
            d.report(
                Code::SeveralSuiteFiles,
                Span::whole(files.add(root)),
                format!("found {} in `{shown}`", suggest::quoted(&names, "and")),
                "name one file in the macro",
            );
            None
        }
    }
}

/// Whether a name is that of a suite file, in upper or lower case.
pub(crate) fn is_suite_file(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower == "suite.json" || is_eval_file(&lower)
}

fn is_eval_file(lower: &str) -> bool {
    matches!(lower, "eval.yaml" | "eval.yml") || lower.ends_with(".eval.yaml") || lower.ends_with(".eval.yml")
}

fn has_case_directories(root: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(root) else { return false };
    entries.flatten().any(|entry| {
        let hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
        !hidden && is_case_directory(&entry.path())
    })
}

pub(super) fn is_case_directory(path: &Path) -> bool {
    path.join("case.yaml").exists() || path.join("case.yml").exists()
}

fn suite_json_layout(path: &Path, files: &Files, d: &mut Diagnostics) -> Option<Layout> {
    let root = path.parent().unwrap_or(path);
    // Exact names, also where the file system does not care.
    let exists = |wanted: &str| {
        std::fs::read_dir(root)
            .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name() == wanted && entry.path().is_dir()))
    };
    let suite_json = path.to_path_buf();
    let (message, help) = match (exists(TASKS), exists(CASES)) {
        (true, false) => return Some(Layout::Tasks { suite_json }),
        (false, true) => return Some(Layout::Combined { suite_json }),
        (true, true) => ("both `tasks/` and `cases/` exist next to `suite.json`", "keep one of them"),
        (false, false) => (
            "neither `tasks/` nor `cases/` exists next to `suite.json`",
            "create `tasks/` with one JSON file per task, or `cases/` with one directory per case",
        ),
    };
    d.report(Code::AmbiguousLayout, Span::whole(files.add(path)), message, help);
    None
}
