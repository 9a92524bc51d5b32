//! The files that cases need beside what they say: they are embedded in the test program, for a machine without the suite.

pub(crate) mod contents;

use std::io;
use std::path::Path;

use contents::{Need, Reference};
use evalsuite_loader::source::Files;
use evalsuite_loader::{LoadedTargets, Request};
use evalsuite_schema::diagnostics::{Code, Diagnostic, SourceRange};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{PathRef, Probe, Provider, TargetsFile};

pub(crate) use contents::{Contents, Embedded};

/// Most bytes of one suite.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Most files, directories and links of one suite: the compiler opens each of them.
const MAX_ENTRIES: usize = 10_000;

/// What is embedded, or why nothing is.
type Gathered = Result<Contents, Box<Diagnostic>>;

/// What the cases in the texts of a suite need, whose directory in the package is `root`.
pub(crate) fn gather(texts: &[impl AsRef<str>], root: &str, request: &Request, files: &Files) -> Gathered {
    let mut contents = Contents::new(&request.package_root, root);
    let found = contents::references(texts).into_iter().try_for_each(|reference| contents.add(&reference));
    checked(found.map(|()| contents), files, &request.package_root.join(root))
}

/// The targets file at a path in the package, with the directories of its commands; nothing for a file outside of the package.
pub(crate) fn command_files(file: &Path, loaded: &LoadedTargets, request: &Request) -> Gathered {
    let root = file.parent().and_then(|folder| folder.strip_prefix(&request.package_root).ok()).and_then(Path::to_str);
    let path = file.strip_prefix(&request.package_root).ok().and_then(Path::to_str);
    let (Some(root), Some(path)) = (root, path) else { return Ok(Contents::default()) };
    let mut contents = Contents::new(&request.package_root, root);
    let written = Reference { path: path.replace('\\', "/"), need: Need::Content };
    let directories = loaded
        .targets
        .iter()
        .flat_map(directories)
        .filter(|directory| !Syntax::Variable.is_in(&directory.path))
        .map(|directory| Reference { path: directory.path.clone(), need: Need::WorkingDirectory });
    let found = std::iter::once(written).chain(directories).try_for_each(|reference| contents.add(&reference));
    checked(found.map(|()| contents), &loaded.files, file)
}

fn directories(targets: &TargetsFile) -> impl Iterator<Item = &PathRef> {
    targets.targets.iter().flat_map(|entry| {
        let (cwd, check) = match &entry.provider {
            Provider::Cli(target) => (&target.cwd, &target.healthcheck),
            Provider::Acp(target) => (&target.cwd, &target.healthcheck),
            Provider::Alias(_) | Provider::Other(_) => return [None, None].into_iter().flatten(),
        };
        let of_check = check.as_ref().and_then(|check| match &check.probe {
            Probe::Command { cwd, .. } => cwd.as_ref(),
            Probe::Url(_) => None,
        });
        [cwd.as_ref(), of_check].into_iter().flatten()
    })
}

/// What was found, unless it is too much for a program.
fn checked(found: io::Result<Contents>, files: &Files, root: &Path) -> Gathered {
    let (problem, largest) = match found {
        Err(error) => (format!("the files that cases need cannot be embedded: {error}"), String::new()),
        Ok(contents) => {
            let (bytes, count) = (contents.bytes(), contents.entries.len());
            let problem = if bytes > MAX_BYTES {
                let (bytes, most) = (megabytes(bytes), megabytes(MAX_BYTES));
                format!("the files that cases need are {bytes}, more than the {most} of a suite that are embedded")
            } else if count > MAX_ENTRIES {
                format!("cases need {count} files, more than the {MAX_ENTRIES} of a suite that are embedded")
            } else {
                return Ok(contents);
            };
            (problem, largest(&contents, files))
        }
    };
    let help = format!("write `embed = off`: the tests then need the suite's directory where they run{largest}");
    let place = SourceRange::whole(files.shown(root));
    Err(Box::new(Diagnostic::new(Code::NotEmbedded, problem).at(place).help(help)))
}

fn largest(contents: &Contents, files: &Files) -> String {
    let largest: Vec<String> =
        contents.largest().map(|(path, bytes)| format!("`{}` ({})", files.shown(path), megabytes(bytes))).collect();
    match largest.as_slice() {
        [] => String::new(),
        some => format!("; the largest are {}", some.join(", ")),
    }
}

#[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0))
}

#[cfg(test)]
mod tests;
