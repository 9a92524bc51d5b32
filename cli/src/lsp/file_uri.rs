//! Paths of files as URIs.

use std::path::{Component, Path, PathBuf, Prefix};

use gen_lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is escaped in a segment of a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path that a URI names; `None` if it is not the URI of a local file.
pub(super) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_ref().strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(rest.split(['?', '#']).next()?).decode_utf8().ok()?;
    if !path.starts_with('/') || path.contains('\0') {
        return None;
    }
    // `/c:/x` on Windows.
    let has_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    let path = PathBuf::from(if has_drive { &path[1..] } else { &path });
    // The paths of suites have no such parts.
    let is_plain = |part: Component<'_>| !matches!(part, Component::CurDir | Component::ParentDir);
    path.components().all(is_plain).then(|| path.components().collect())
}

/// The URI of an absolute path.
pub(super) fn of_path(path: &Path) -> Uri {
    let mut uri = "file://".to_owned();
    for part in path.components() {
        match part {
            Component::Prefix(prefix) => match prefix.kind() {
                Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => {
                    uri.push_str(&format!("/{}%3A", char::from(letter).to_ascii_lowercase()));
                }
                _ => uri.push_str(&prefix.as_os_str().to_string_lossy().replace('\\', "/")),
            },
            Component::RootDir | Component::CurDir | Component::ParentDir => {}
            Component::Normal(name) => {
                uri.push('/');
                uri.extend(utf8_percent_encode(&name.to_string_lossy(), ESCAPED));
            }
        }
    }
    if uri.len() == "file://".len() {
        uri.push('/');
    }
    Uri(uri)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for path in ["/a/b.yaml", "/a b/ö#?%41/[x].yaml", "/"] {
            assert_eq!(to_path(&of_path(Path::new(path))).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(of_path(Path::new("/a b/ü")).as_ref(), "file:///a%20b/%C3%BC");
    }

    #[test]
    fn other_uris_are_not_files() {
        for uri in
            ["untitled:Untitled-1", "file://host/a", "https://a/b", "file:///%00", "file:///%ff", "file:///a/../b", ""]
        {
            assert_eq!(to_path(&Uri(uri.to_owned())), None, "{uri}");
        }
        assert_eq!(to_path(&Uri("file://localhost/a".to_owned())), Some(PathBuf::from("/a")));
    }
}
