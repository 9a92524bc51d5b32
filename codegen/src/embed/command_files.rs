//! What suites with commands as agents or judges need: the targets file and the directories that the commands work in.

use std::path::Path;

use evalsuite_diagnostics::Diagnostic;
use evalsuite_loader::{LoadedTargets, Request};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{PathRef, Probe, Provider, TargetsFile};

use super::references::{Need, Reference};
use super::{Contents, checked};

/// The targets file at a path in the package, with the directories of its commands; nothing for a file outside of the package.
pub(crate) fn command_files(
    file: &Path,
    loaded: &LoadedTargets,
    request: &Request,
) -> Result<Contents, Box<Diagnostic>> {
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
        let Provider::Cli(target) = &entry.provider else { return [None, None].into_iter().flatten() };
        let of_check = target.healthcheck.as_ref().and_then(|check| match &check.probe {
            Probe::Command { cwd, .. } => cwd.as_ref(),
            Probe::Url(_) => None,
        });
        [target.cwd.as_ref(), of_check].into_iter().flatten()
    })
}
