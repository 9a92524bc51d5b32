//! Positions as the client has them: files by their URIs, places in a text by lines and columns.

use std::path::{Component, Path, PathBuf, Prefix};

use gen_lsp_types::{Position, PositionEncodingKind, Range, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Serialize;

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

/// What the columns of the client count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "utf-16")]
    Utf16,
}

impl Encoding {
    /// The encoding that both sides know; UTF-16 if the client offers none.
    pub(super) fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Self {
        let has_utf8 = offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8));
        if has_utf8 { Self::Utf8 } else { Self::Utf16 }
    }

    fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
        }
    }
}

/// The lines of a text, which end with `\n`, `\r\n` or `\r`.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let is_end = |index: usize| match bytes[index] {
            b'\n' => true,
            b'\r' => bytes.get(index + 1) != Some(&b'\n'),
            _ => false,
        };
        let ends = (0..bytes.len()).filter(|index| is_end(*index));
        let starts = std::iter::once(0).chain(ends.map(|end| end + 1)).collect();
        Self { text, starts, encoding }
    }

    /// A line without its end; an empty one after the last.
    fn line(&self, index: usize) -> (usize, &'t str) {
        let start = self.starts.get(index).copied().unwrap_or(self.text.len());
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        (start, self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    /// The byte at a position of the client: the nearest one before it if there is no such position.
    pub(super) fn offset(&self, position: Position) -> usize {
        let (start, line) = self.line(position.line as usize);
        let mut column = 0;
        for (offset, character) in line.char_indices() {
            column += self.encoding.length(character.encode_utf8(&mut [0; 4]));
            if column > position.character as usize {
                return start + offset;
            }
        }
        start + line.len()
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        let index = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = self.text.get(self.starts[index]..offset).unwrap_or_default();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: number(index), character: number(self.encoding.length(before)) }
    }

    pub(super) fn range(&self, range: std::ops::Range<usize>) -> Range {
        Range { start: self.position(range.start), end: self.position(range.end) }
    }

    /// The byte at a position of the loader, whose columns count characters.
    pub(super) fn loader_offset(&self, position: evalsuite_schema::diagnostics::Position) -> usize {
        let (start, line) = self.line((position.line as usize).saturating_sub(1));
        let column = (position.column as usize).saturating_sub(1);
        start + line.char_indices().nth(column).map_or(line.len(), |(offset, _)| offset)
    }
}

#[cfg(all(test, unix))]
mod file_uri_tests {
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

#[cfg(test)]
mod text_lines_tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_what_was_negotiated() {
        let text = "a: 1\r\n😀é: x\n";
        let (utf8, utf16) = (Lines::new(text, Encoding::Utf8), Lines::new(text, Encoding::Utf16));
        let colon = text.find("é:").expect("the key") + "é".len();
        assert_eq!((utf8.position(colon), utf16.position(colon)), (at(1, 6), at(1, 3)));
        assert_eq!((utf8.offset(at(1, 6)), utf16.offset(at(1, 3))), (colon, colon));
        assert_eq!(utf16.loader_offset(evalsuite_schema::diagnostics::Position { line: 2, column: 3 }), colon);
    }

    #[test]
    fn positions_that_are_not_there_are_moved_to_the_nearest() {
        let text = "😀\nb\r";
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.offset(at(0, 1)), 0, "in a surrogate pair");
        assert_eq!(lines.offset(at(0, 99)), 4);
        assert_eq!(lines.offset(at(1, u32::MAX)), 6);
        assert_eq!(lines.offset(at(u32::MAX, 0)), text.len());
        assert_eq!(lines.position(text.len()), at(2, 0));
        assert_eq!(Lines::new("", Encoding::Utf8).offset(at(3, 3)), 0);
    }
}
