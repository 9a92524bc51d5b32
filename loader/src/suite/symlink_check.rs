//! Links to directories that cargo should not follow when it looks for changes of the suite.

use std::path::Path;

use evalsuite_schema::discovery::{DirectoryLink, Tree, directory_links};

use crate::diagnostic::{Code, Diagnostics, resolve};
use crate::fields::paths::{self, Scope};
use crate::request::Request;
use crate::source::{Files, Span};

/// Links that are reported, at most.
const MAX_SHOWN: usize = 20;

/// Finds links below the suite's directory that lead out of the package, or to a directory with cargo's target directory in it.
/// `tree` is what is below the directory, and `known` are the problems that were found before.
pub(crate) fn find(tree: &Tree, scope: Scope<'_>, known: &Diagnostics) -> Diagnostics {
    let mut d = Diagnostics::new();
    for link in links(&scope.roots.suite_root, tree, scope.request) {
        // A link that the suite names was reported where it is named.
        let name = paths::file_name(&link.path);
        if known.iter().any(|problem| problem.code == Code::PathEscape && problem.message.contains(&name)) {
            continue;
        }
        report(&link, scope.files, &mut d);
    }
    d
}

/// The problems of a directory that a build script tracks: links that cargo should not follow.
pub fn check_tracked_directory(directory: &Path, request: &Request) -> evalsuite_schema::diagnostics::Diagnostics {
    let (files, mut d) = (Files::new(&request.workspace_root), Diagnostics::new());
    links(directory, &Tree::read(directory), request).iter().for_each(|link| report(link, &files, &mut d));
    resolve(d, &files)
}

fn links(directory: &Path, tree: &Tree, request: &Request) -> Vec<DirectoryLink> {
    let is_inside = directory.starts_with(&request.package_root);
    let boundary = if is_inside { &request.package_root } else { directory };
    let mut found = directory_links(directory, tree, boundary, &request.workspace_root.join("target"));
    found.truncate(MAX_SHOWN);
    found
}

fn report(link: &DirectoryLink, files: &Files, d: &mut Diagnostics) {
    let place = Span::whole(files.add(&link.path));
    let message = format!("`{}` is a link to {}, {}", files.shown(&link.path), link.target.display(), link.reason);
    d.report(Code::LinkedDirectory, place, message, "copy the files that the suite needs, or remove the link");
}
