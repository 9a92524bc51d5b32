//! The package and source file of a call.

use std::path::{Path, PathBuf};

use evalsuite_codegen::cargo_environment;
use evalsuite_codegen::expansion::CacheLocation;
use proc_macro2::Span;

use crate::macro_library;

/// What the compiler and cargo say about a call.
#[derive(Debug)]
pub(crate) struct CallSite {
    /// Directory of the package's `Cargo.toml`.
    pub(crate) package_root: PathBuf,
    /// The source file.
    pub(crate) source_file: Option<PathBuf>,
    /// Where the suite is stored for the next expansion: in a package with a build script, by a compiler that cargo has called.
    pub(crate) cache: Option<CacheLocation>,
    /// Directories that the build script tracks.
    pub(crate) tracked: Vec<PathBuf>,
    /// Whether the environment makes warnings fail the build.
    pub(crate) deny_warnings: bool,
}

impl CallSite {
    /// The call with a token at `span`.
    pub(crate) fn of(span: Span) -> Result<Self, String> {
        Ok(Self {
            package_root: cargo_environment::variable("CARGO_MANIFEST_DIR")?.into(),
            source_file: source_file(span),
            cache: cache_location(),
            tracked: cargo_environment::tracked_directories(),
            deny_warnings: cargo_environment::warnings_are_denied()?,
        })
    }
}

impl CallSite {
    /// Directory of the source file.
    pub(crate) fn source_dir(&self) -> Option<&Path> {
        self.source_file.as_deref()?.parent()
    }

    /// Root of the package that `entry` is relative to: for a path relative to the source file, the package that file
    /// belongs to. It is another one than cargo's where a test tool compiles the file inside a generated package.
    pub(crate) fn package_root_of(&self, entry: &str) -> &Path {
        let source_dir = self.source_dir().filter(|_| entry.starts_with("./"));
        source_dir
            .and_then(|directory| directory.ancestors().find(|parent| parent.join("Cargo.toml").is_file()))
            .unwrap_or(&self.package_root)
    }
}

fn cache_location() -> Option<CacheLocation> {
    Some(CacheLocation { out_dir: std::env::var_os("OUT_DIR")?.into(), program: macro_library::stamps()? })
}

/// The source file at `span`. Language servers often do not know it.
fn source_file(span: Span) -> Option<PathBuf> {
    let file = span.unwrap().local_file()?;
    // The compiler's paths are relative to the directory it was started in.
    Some(std::env::current_dir().ok()?.join(file))
}
