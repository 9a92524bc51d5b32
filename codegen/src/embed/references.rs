//! The paths that cases name.

use std::collections::BTreeSet;

use evalsuite_schema::PathRef;
use evalsuite_schema::sorting::set;

/// A path and what is needed of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(super) path: String,
    pub(super) need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// The file, or the directory without what git keeps in it.
    Content,
    /// A directory to work in.
    WorkingDirectory,
    /// A repository.
    Repository,
}

/// How every [`PathRef`] begins. Inside of a text of a case the quotes would be escaped.
const START: &str = "{\"written\":";

/// Every path in texts that hold a suite and its cases as JSON.
pub(super) fn of(texts: &[impl AsRef<str>]) -> BTreeSet<Reference> {
    set(texts.iter().flat_map(|text| in_text(text.as_ref())))
}

/// Searching the text takes a fraction of what decoding it again would.
pub(crate) fn in_text(code: &str) -> BTreeSet<Reference> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(START) {
        let mut reader = serde_json::Deserializer::from_str(&code[at..]).into_iter::<PathRef>();
        let Some(Ok(path)) = reader.next() else { continue };
        let (before, after) = (&code[..at], &code[at + reader.byte_offset()..]);
        // The text of a prompt was read while the suite was loaded.
        let has_text = before.ends_with("{\"file\":") && after.starts_with(",\"text\":");
        // The path of a repository may only be known when the case runs.
        if has_text || path.path.contains("${{") {
            continue;
        }
        let need = if before.ends_with("\"cwd\":") {
            Need::WorkingDirectory
        } else if before.ends_with("\"local\":") {
            Need::Repository
        } else {
            Need::Content
        };
        found.insert(Reference { path: path.path, need });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_by_what_they_are_for() {
        let code = r##"json: r#"{"id":"{\"written\":\"no\"}","template":{"written":"t","path":"s/t"},"cwd":{"written":".","path":"s"},
            "source":{"local":{"written":"r","path":"s/r"}},"file":{"file":{"written":"p","path":"s/p.md"},"text":"x"},
            "parts":[{"file":{"written":"n","path":"s/n\u00e4"}}],"late":{"local":{"written":"${{ R }}","path":"${{ R }}"}}}"#,
            json: r#"{"template":{"written":"t","path":"s/t"}}"#"##;
        let reference = |path: &str, need| Reference { path: path.to_owned(), need };
        assert_eq!(
            in_text(code).into_iter().collect::<Vec<_>>(),
            [
                reference("s", Need::WorkingDirectory),
                reference("s/nä", Need::Content),
                reference("s/r", Need::Repository),
                reference("s/t", Need::Content),
            ]
        );
    }
}
