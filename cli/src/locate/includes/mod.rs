//! Where the sources of packages include suites, and with which arguments.
//!
//! Read from the sources, 300 lines, and not recorded by `track`, `generate` and the macro while they run: `check` and editors need the
//! arguments before the first build, and those of a source that was edited since the last one.

mod calls;
mod generator_calls;

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_codegen::binding::Binding;
use evalsuite_codegen::expansion::Context;
use evalsuite_codegen::{cargo_environment, skill_bindings};
use evalsuite_loader::source::plain_text;
use evalsuite_loader::{Request, check_tracked_directory};
use evalsuite_schema::diagnostics::Diagnostics;
use walkdir::{DirEntry, WalkDir};

use self::calls::Call;
pub(crate) use self::calls::tracked_directories;
#[cfg(feature = "lsp")]
pub(crate) use self::calls::visit_tokens;
use crate::locate::suite_request;

/// Directories of a package with sources.
const DIRECTORIES: &[&str] = &["src", "tests", "examples", "benches"];

/// A source file that names the macro or the generator.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    /// The path relative to the package.
    pub(crate) shown: String,
    pub(crate) text: String,
}

/// The source files of the package at `root` with calls in them, and its build script.
pub(crate) fn source_files(root: &Path) -> Vec<SourceFile> {
    let with_calls = |path: PathBuf| {
        // A link may lead to a device.
        let text = plain_text(&path)?;
        let has_calls = text.contains("include_eval_suite") || text.contains("evalsuite_build");
        let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        has_calls.then_some(SourceFile { path, shown, text })
    };
    rust_files(root).into_iter().filter_map(with_calls).collect()
}

/// The Rust files of the package at `root`. Packages in its directories have sources of their own.
pub(crate) fn rust_files(root: &Path) -> Vec<PathBuf> {
    let is_own = |entry: &DirEntry| !(entry.file_type().is_dir() && entry.path().join("Cargo.toml").is_file());
    let walked = DIRECTORIES.iter().flat_map(|directory| {
        let walk = WalkDir::new(root.join(directory)).sort_by_file_name().into_iter().filter_entry(is_own);
        walk.filter_map(Result::ok).map(DirEntry::into_path)
    });
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    std::iter::once(root.join("build.rs")).chain(walked).filter(is_rust).collect()
}

/// The includes of suites in the sources of packages.
#[derive(Default)]
pub(crate) struct Includes {
    pub(crate) all: Vec<Include>,
    /// The directories that build scripts track, with their packages.
    pub(crate) tracked: Vec<Tracked>,
    /// Calls that could not be read: where they are, and why.
    pub(crate) unread: Vec<String>,
}

/// A directory that a build script tracks.
pub(crate) struct Tracked {
    pub(crate) package: PathBuf,
    /// The whole path.
    pub(crate) directory: PathBuf,
}

impl Tracked {
    /// The directories that the build script of the package at `root` tracks, where they are literals.
    pub(crate) fn in_build_script(root: &Path) -> Vec<Self> {
        let text = plain_text(&root.join("build.rs")).filter(|text| text.contains("evalsuite_build"));
        let Some(Ok(tokens)) = text.map(|text| text.parse()) else { return Vec::new() };
        let tracked = |directory: String| Self { package: root.to_owned(), directory: root.join(directory) };
        tracked_directories(tokens).into_iter().map(tracked).collect()
    }

    /// Links that cargo should not follow.
    pub(crate) fn problems(&self) -> Diagnostics {
        check_tracked_directory(&self.directory, &Request::new("", &self.package))
    }
}

/// A call of `include_eval_suite!` or `generate` whose arguments are literal.
#[derive(Clone)]
pub(crate) struct Include {
    /// The whole path of the suite.
    pub(crate) path: PathBuf,
    /// The source file with the call.
    #[cfg_attr(not(feature = "lsp"), expect(dead_code, reason = "the language server names it"))]
    pub(crate) source: PathBuf,
    pub(crate) binding: Binding,
    /// Where the compiler would expand it.
    pub(crate) context: Context,
}

impl Includes {
    /// Reads the sources of the packages at `roots`.
    pub(crate) fn of_packages(roots: &[PathBuf]) -> io::Result<Self> {
        let mut includes = Self::default();
        for root in roots {
            includes.tracked.extend(Tracked::in_build_script(root));
            for file in source_files(root) {
                includes.add_file(root, &file)?;
            }
        }
        Ok(includes)
    }

    /// The includes of the suite at `path`.
    pub(crate) fn of_suite(&self, path: &Path) -> Vec<&Include> {
        self.all.iter().filter(|include| is_same_suite(&include.path, path)).collect()
    }

    /// The paths of the suites that are included.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().map(|include| include.path.as_path())
    }

    fn add_file(&mut self, root: &Path, file: &SourceFile) -> io::Result<()> {
        let calls = match calls::in_source(&file.text) {
            Ok(calls) => calls,
            Err(error) => {
                self.unread.push(format!("{}: the file is not valid Rust: {error}", file.shown));
                return Ok(());
            }
        };
        for Call { line, binding } in calls {
            match binding {
                Ok(binding) => {
                    let directory = entry_path(root, file, &binding.entry.value());
                    match skill_bindings::of_each_skill(*binding, &directory) {
                        Ok(bindings) => {
                            for binding in bindings {
                                self.all.push(include(root, file, binding)?);
                            }
                        }
                        Err(problem) => self.unread.push(format!("{}:{line}: {}", file.shown, problem.text())),
                    }
                }
                Err(reason) => self.unread.push(format!("{}:{line}: {reason}", file.shown)),
            }
        }
        Ok(())
    }
}

/// The path that a call names in a source file.
fn entry_path(root: &Path, file: &SourceFile, entry: &str) -> PathBuf {
    match entry.strip_prefix("./") {
        Some(rest) => file.path.parent().unwrap_or(root).join(rest),
        None => root.join(entry),
    }
}

fn include(root: &Path, file: &SourceFile, binding: Binding) -> io::Result<Include> {
    let entry = binding.entry.value();
    let path = entry_path(root, file, &entry);
    let mut request = Request::new(entry, root);
    request.source_dir = Some(file.path.parent().unwrap_or(root).to_path_buf());
    let mut context = Context::new(request);
    context.deny_warnings = cargo_environment::warnings_are_denied().map_err(io::Error::other)?;
    Ok(Include { path: suite_request::absolute(&path)?, source: file.path.clone(), binding, context })
}

/// Whether both paths name one suite: it may be named by its file or by its directory.
pub(crate) fn is_same_suite(one: &Path, other: &Path) -> bool {
    let is_file_of = |file: &Path, directory: &Path| {
        let is_suite_file =
            file.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known));
        is_suite_file && file.parent() == Some(directory)
    };
    one == other || is_file_of(one, other) || is_file_of(other, one)
}
