//! Times what an author waits for after the edit of a case: the problems of the language server, and the verdict of `watch`.

mod language_server;
mod watch;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::competitor;
use crate::environment::Environment;
use crate::layout::{Cases, Layout};
use crate::options::Options;
use crate::package::Package;

/// All samples of one kind of edit in one package.
#[derive(Debug, Serialize)]
pub(crate) struct EditSamples {
    pub(crate) edit: &'static str,
    pub(crate) layout: &'static str,
    pub(crate) cases: usize,
    /// From the edit to the answer, in seconds.
    pub(crate) seconds: Vec<f64>,
}

/// Edits the case in the middle of packages of both layouts.
pub(crate) fn measure(options: &Options, environment: &Environment) -> Result<Vec<EditSamples>> {
    let program = program()?;
    let evalsuite = competitor::select(&["evalsuite".to_owned()])?;
    let evalsuite = evalsuite.first().context("evalsuite is one of the competitors")?;
    let mut measured = Vec::new();
    for count in options.sizes() {
        for (layout, name) in [(Layout::Cases, "cases"), (Layout::Tasks, "tasks")] {
            let cases = Cases { layout, count };
            let package = Package::write(*evalsuite, cases, &environment.directory, &environment.source)?;
            package.age()?;
            eprintln!("{name}: {} cases", cases.count);
            let samples = |edit, seconds| EditSamples { edit, layout: name, cases: count, seconds };
            let edits = language_server::measure(&program, &package, options.runs.get())?;
            measured.extend(edits.into_iter().map(|(edit, seconds)| samples(edit, seconds)));
            let saves = watch::measure(&program, &package, environment, options.runs.get())?;
            measured.extend(saves.into_iter().map(|(edit, seconds)| samples(edit, seconds)));
            if !options.keep {
                environment.cargo.clean(&package)?;
                package.remove()?;
            }
        }
    }
    Ok(measured)
}

/// The command line, optimized, from the sources on disk.
fn program() -> Result<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let build =
        ["build", "--release", "--package", "cargo-evalsuite", "--features", "lsp", "--message-format", "short"];
    let status = Command::new("cargo").args(build).current_dir(&workspace).status().context("cannot start cargo")?;
    ensure!(status.success(), "the command line cannot be built");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let program = target.join("release").join(format!("cargo-evalsuite{}", std::env::consts::EXE_SUFFIX));
    program.canonicalize().with_context(|| format!("cannot find {}", program.display()))
}
