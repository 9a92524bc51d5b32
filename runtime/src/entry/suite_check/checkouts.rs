//! Whether the suite that was compiled is that of the package that is tested: two checkouts with one target directory may run each other's
//! test programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, io};

use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::line_breaks::digest_of_file;
use evalsuite_schema::sorting::{map, set};

use super::suite_changed;
use crate::model::suite::EvalSuite;
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::{sha256, sha256_of_source};
use crate::platform::package_file::read_package_file;
use crate::platform::untrusted::{EntryKind, TreeEntry};
use crate::workspace::tree_walk::{is_ignored, walk};

/// Kind of the sources of a suite that are files which were read, besides those of cases.
pub(super) const FILE: &str = "file";

/// The loader reads no larger file, in bytes.
const LARGEST: u64 = 16 << 20;

const HELP: &str =
    "help: rebuild in this package, and give each checkout a target directory of its own (CARGO_TARGET_DIR)";

/// What is wrong if this program was built elsewhere. The same files elsewhere are right: an archive of nextest may be run in any checkout.
pub(super) fn problem(suite: &EvalSuite, places: &SuiteLocation) -> Option<String> {
    let compiled = Path::new(suite.manifest_dir).join(suite.root);
    let here = places.suite_dir.canonicalize().ok()?;
    let built_from = compiled.canonicalize().ok();
    if built_from.as_ref() == Some(&here) {
        return package_without(suite, &compiled);
    }
    let differing = built_from.as_deref().and_then(|built_from| first_difference(built_from, &here));
    let what = match differing {
        Some(difference) => format!("differs from it in {difference}"),
        None if is_other_content(suite, places) => "has other files than those that were compiled".to_owned(),
        None => return None,
    };
    let is_gone = if built_from.is_none() { ", which does not exist any more," } else { "," };
    let built_from = built_from.unwrap_or(compiled);
    let message = format!("this test was built from {}{is_gone} and {} {what}", built_from.display(), here.display());
    Some(format!("{}\n{HELP}", suite_changed(message)))
}

/// The problem that the package that is tested does not have the suite, while that of the package that was compiled is still there. A program
/// with embedded files needs none.
fn package_without(suite: &EvalSuite, compiled: &Path) -> Option<String> {
    let tested = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let is_package = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == suite.package);
    let is_checkout = is_package && tested.join("Cargo.toml").is_file() && suite.embedded.is_none();
    let is_elsewhere = Path::new(suite.root).is_relative() && !tested.join(suite.root).exists();
    (is_checkout && is_elsewhere).then(|| {
        let message = format!(
            "this test was built from {}, and {} has no suite `{}`",
            compiled.display(),
            tested.display(),
            suite.root
        );
        format!("{}\n{HELP}", suite_changed(message))
    })
}

/// The files that differ between two directories: the first one, and how many others.
fn first_difference(built_from: &Path, here: &Path) -> Option<String> {
    let (then, now) = (digests(built_from), digests(here));
    let differ: BTreeSet<&String> = set(then.keys().chain(now.keys()).filter(|name| then.get(*name) != now.get(*name)));
    let first = differ.first()?;
    let more =
        if differ.len() > 1 { format!(" and {}", counted(differ.len() - 1, "other file")) } else { String::new() };
    Some(format!("`{first}`{more}"))
}

/// Digests of the files below a directory.
fn digests(directory: &Path) -> BTreeMap<String, String> {
    let files = walk(directory, is_ignored).filter_map(Result::ok).filter(|found| found.kind == EntryKind::File);
    let digest = |found: TreeEntry| {
        let digest = found.open().map_err(io::Error::from).and_then(sha256_of_source);
        (found.name(), digest.unwrap_or_else(|error| error.to_string()))
    };
    map(files.map(digest))
}

/// Whether the files of the suite that were read have another digest than at compile time.
fn is_other_content(suite: &EvalSuite, places: &SuiteLocation) -> bool {
    // Data that cannot be decoded is reported where it is used.
    let compiled = suite.data().map(|data| data.digest.clone()).unwrap_or_default();
    !compiled.is_empty() && content_digest(suite, places).is_none_or(|digest| digest != compiled)
}

/// The digest of the suite as the loader computes it, of the files as they are now; `None` if one cannot be read.
fn content_digest(suite: &EvalSuite, places: &SuiteLocation) -> Option<String> {
    let of_cases = suite.cases.iter().map(|case| case.source).filter(|source| !source.is_empty());
    let others = suite.sources.iter().filter(|(kind, _)| *kind == FILE).map(|(_, path)| *path);
    let mut content = Vec::new();
    for name in set(of_cases.chain(others)) {
        let file = read_package_file(&place(name, suite, places), LARGEST).ok()?;
        content.extend_from_slice(name.as_bytes());
        content.push(0);
        content.extend_from_slice(&digest_of_file(&file));
    }
    Some(sha256(content))
}

/// Where a file is now that was read at compile time. Those outside of the suite have whole paths.
fn place(name: &str, suite: &EvalSuite, places: &SuiteLocation) -> PathBuf {
    match Path::new(name).strip_prefix(suite.manifest_dir) {
        Ok(in_package) if Path::new(name).is_absolute() => places.package_root.join(in_package),
        _ => places.suite_dir.join(name),
    }
}
