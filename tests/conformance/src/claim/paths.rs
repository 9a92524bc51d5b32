//! Paths that are missing or point out of the package: E017, E018 and their warnings.

use std::path::{Component, Path, PathBuf};

use evalsuite_schema::diagnostics::Code;

use super::{Claim, ensure};

pub(super) fn check(claim: &Claim<'_>) -> Result<(), String> {
    match claim.code {
        Code::EmptyFile => {
            let path = claim.root.join(claim.quoted.first().copied().unwrap_or_default());
            let is_empty = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() == 0);
            ensure(is_empty, || format!("{} is not empty", path.display()))
        }
        Code::PathEscape => escape(claim),
        _ => missing(claim),
    }
}

/// The path a diagnostic is about: the text at its location, or the one its message names.
fn written<'a>(claim: &'a Claim<'_>) -> Option<&'a str> {
    let at_place = claim.value().and_then(|value| value.as_str());
    let text = at_place.or(claim.quoted.last().copied())?;
    Some(text.trim().strip_prefix("file://").unwrap_or(text.trim()))
}

fn escape(claim: &Claim<'_>) -> Result<(), String> {
    if claim.message.contains("NUL") {
        let holds = claim.value().and_then(|value| value.as_str()).is_some_and(|text| text.contains('\0'));
        return ensure(holds, || "there is none".to_owned());
    }
    let has_links = claim.record.links().next().is_some();
    let Some(written) = written(claim) else { return ensure(has_links, || "there is no path".to_owned()) };
    let is_absolute = written.starts_with(['/', '\\', '~']) || written.as_bytes().get(1) == Some(&b':');
    let leaves = places(claim).iter().all(|place| !resolve(&place.join(written)).starts_with(claim.root));
    let somewhere = places(claim).iter().any(|place| {
        let path = resolve(&place.join(written));
        !path.starts_with(claim.root) && path.exists()
    });
    ensure(is_absolute || leaves || somewhere || has_links, || format!("`{written}` stays inside"))
}

/// There is nothing of the right kind anywhere in the search order.
fn missing(claim: &Claim<'_>) -> Result<(), String> {
    if claim.message.ends_with("is a directory, not a file with a workspace") {
        let path = claim.root.join(claim.quoted.last().copied().unwrap_or_default());
        return ensure(path.is_dir(), || format!("{} is no directory", path.display()));
    }
    if let Some((path, kind)) = claim.message.split_once("is not a ") {
        // There is something of the other kind.
        let path = path.trim_end().trim_end_matches('`');
        let path = claim.root.join(path.rsplit('`').next().unwrap_or_default());
        let fits = if kind.starts_with("dir") { path.is_file() } else { path.is_dir() };
        return ensure(fits, || format!("{} is of the right kind", path.display()));
    }
    let Some(written) = written(claim) else { return Err("there is no path".to_owned()) };
    let there = places(claim).into_iter().map(|place| resolve(&place.join(written))).find(|path| path.exists());
    match there {
        Some(path) => Err(format!("{} exists", path.display())),
        None => Ok(()),
    }
}

/// Directory of the file, then those from the suite file's up to the root.
pub(super) fn places(claim: &Claim<'_>) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = claim.place.path.parent().map(Path::to_path_buf).into_iter().collect();
    let eval = claim.root.join(claim.record.eval.as_deref().unwrap_or_default());
    places.extend(eval.ancestors().skip(1).take_while(|place| place.starts_with(claim.root)).map(Path::to_path_buf));
    places
}

/// Resolves `.` and `..` in the text of a path.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            other => resolved.push(other),
        }
    }
    resolved
}
