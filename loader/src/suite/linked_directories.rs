//! Links to directories that cargo should not follow when it looks for changes of the suite.

use evalsuite_discovery::directory_links;

use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths;
use crate::fields::paths::Roots;
use crate::request::Request;
use crate::source::{Files, Span};

/// Links that are reported, at most.
const MAX_SHOWN: usize = 20;

/// Finds links below the suite's directory that lead out of the package, or to a directory with cargo's target directory in it. Without a
/// package nothing follows them. `known` are the problems that were found before.
pub(crate) fn find(roots: &Roots, request: &Request, files: &Files, known: &[&Diagnostics]) -> Diagnostics {
    let mut d = Diagnostics::new();
    if request.part.is_some() || !request.package_root.join("Cargo.toml").is_file() {
        return d;
    }
    let is_inside = roots.suite_root.starts_with(&request.package_root);
    let boundary = if is_inside { &request.package_root } else { &roots.suite_root };
    let found = directory_links(&roots.suite_root, boundary, &request.workspace_root.join("target"));
    for link in found.into_iter().take(MAX_SHOWN) {
        let shown = format!("`{}`", files.shown(&link.path));
        // A link that the suite names was reported where it is named.
        let name = paths::file_name(&link.path);
        let mut known = known.iter().flat_map(|known| known.iter());
        if known.any(|problem| problem.code == Code::PathEscape && problem.message.contains(&name)) {
            continue;
        }
        let place = Span::whole(files.add(&link.path));
        let message = format!("{shown} is a link to {}, {}", link.target.display(), link.reason);
        d.report(Code::LinkedDirectory, place, message, "copy the files that the suite needs, or remove the link");
    }
    d
}
