//! The format of files embedded in a program: pairs of a header and bytes, or an archive of such pairs.
//!
//! A header is a letter, permissions in octal and a path, separated by spaces: `f 644 suites/x/note.txt`.

/// A header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// Its kind.
    pub kind: EmbeddedKind,
    /// Permissions, or the system's default.
    pub mode: u32,
    /// Relative to the package root with `/` separators, or absolute.
    pub path: &'a str,
}

/// The kind of an embedded entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddedKind {
    /// A file; its bytes are the content.
    File,
    /// A directory; without bytes.
    Directory,
    /// A symbolic link; its bytes are the path it points to.
    Link,
}

/// Header of the pair whose bytes are an archive of all the others.
pub const ARCHIVE: &str = "archive";

/// A header and bytes.
pub type Pair<'a> = (&'a str, &'a [u8]);

impl<'a> Header<'a> {
    /// Reads a header; `None` if it is invalid.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(3, ' ');
        let kind = match parts.next()? {
            "f" => EmbeddedKind::File,
            "d" => EmbeddedKind::Directory,
            "l" => EmbeddedKind::Link,
            _ => return None,
        };
        let mode = u32::from_str_radix(parts.next()?, 8).ok()?;
        Some(Self { kind, mode, path: parts.next()? })
    }
}

impl std::fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            EmbeddedKind::File => 'f',
            EmbeddedKind::Directory => 'd',
            EmbeddedKind::Link => 'l',
        };
        write!(f, "{kind} {:o} {}", self.mode, self.path)
    }
}

/// Adds a pair to an archive.
pub fn push(archive: &mut Vec<u8>, (header, bytes): Pair<'_>) {
    archive.extend_from_slice(format!("{} {}\n", header.len(), bytes.len()).as_bytes());
    archive.extend_from_slice(header.as_bytes());
    archive.extend_from_slice(bytes);
}

/// All pairs of an archive; `None` if it is invalid.
pub fn pairs(mut archive: &[u8]) -> Option<Vec<Pair<'_>>> {
    let mut pairs = Vec::new();
    while !archive.is_empty() {
        let end = archive.iter().position(|byte| *byte == b'\n')?;
        let lengths = std::str::from_utf8(&archive[..end]).ok()?;
        let (header, bytes) = lengths.split_once(' ')?;
        let (header, bytes): (usize, usize) = (header.parse().ok()?, bytes.parse().ok()?);
        archive = &archive[end + 1..];
        let whole = header.checked_add(bytes)?;
        if archive.len() < whole {
            return None;
        }
        pairs.push((std::str::from_utf8(&archive[..header]).ok()?, &archive[header..whole]));
        archive = &archive[whole..];
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back() {
        let header = Header { kind: EmbeddedKind::File, mode: 0o755, path: "a b/c\nd" };
        let text = header.to_string();
        assert_eq!(Header::parse(&text), Some(header));
        assert_eq!(Header::parse("x 644 a"), None);
        let given: [Pair<'_>; 3] = [(&text, b"\0\n1 2\n"), ("d 755 empty", b""), ("l 777 link", b"a b")];
        let mut archive = Vec::new();
        given.into_iter().for_each(|pair| push(&mut archive, pair));
        assert_eq!(pairs(&archive).as_deref(), Some(&given[..]));
        assert_eq!(pairs(&archive[..archive.len() - 1]), None);
        assert_eq!(pairs(b""), Some(Vec::new()));
    }
}
