//! Line breaks of texts: `\n` on every system. Git may write `\r\n` when it checks out a text on Windows.

use std::borrow::Cow;

use hmac_sha256::Hash;

/// The text with `\n` in place of `\r\n`. Another `\r` stays.
pub fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// SHA-256 of a file, as [`FileDigest`].
pub fn digest_of_file(bytes: &[u8]) -> [u8; 32] {
    // Most files have none, which is found out faster than where they are.
    if !bytes.contains(&b'\r') {
        return Hash::hash(bytes);
    }
    let mut digest = FileDigest::default();
    digest.update(bytes);
    digest.finish()
}

/// SHA-256 of a file that is read in pieces. A text has the same digest with `\n` and with `\r\n`; a file with a NUL byte is not a
/// text, as git decides.
#[derive(Default)]
pub struct FileDigest {
    /// Of the bytes with `\n` in place of `\r\n`.
    of_text: Hash,
    /// Of the bytes, once they differ from the text.
    of_bytes: Option<Hash>,
    /// Whether the last byte was a `\r`, which is not yet in `of_text`.
    after_return: bool,
    is_binary: bool,
}

impl FileDigest {
    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        self.is_binary |= bytes.contains(&0);
        if let Some(of_bytes) = &mut self.of_bytes {
            of_bytes.update(bytes);
        }
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            if rest[0] == b'\n' {
                self.differ(&[b"\r", bytes]);
            } else {
                self.of_text.update(b"\r");
            }
        }
        while let Some(at) = rest.iter().position(|byte| *byte == b'\r') {
            self.of_text.update(&rest[..at]);
            match rest.get(at + 1) {
                None => {
                    self.after_return = true;
                    return;
                }
                Some(b'\n') => self.differ(&[&rest[at..]]),
                Some(_) => self.of_text.update(b"\r"),
            }
            rest = &rest[at + 1..];
        }
        self.of_text.update(rest);
    }

    /// From here on, the text is not the same as the bytes, of which these are the next ones.
    fn differ(&mut self, next: &[&[u8]]) {
        if self.of_bytes.is_none() {
            let mut of_bytes = self.of_text;
            next.iter().for_each(|bytes| of_bytes.update(bytes));
            self.of_bytes = Some(of_bytes);
        }
    }

    /// The digest.
    pub fn finish(mut self) -> [u8; 32] {
        if self.after_return {
            self.of_text.update(b"\r");
        }
        let of_bytes = self.of_bytes.filter(|_| self.is_binary);
        of_bytes.unwrap_or(self.of_text).finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(pieces: &[&[u8]]) -> [u8; 32] {
        let mut digest = FileDigest::default();
        pieces.iter().for_each(|piece| digest.update(piece));
        let finished = digest.finish();
        assert_eq!(digest_of_file(&pieces.concat()), finished);
        finished
    }

    fn plain(bytes: &[u8]) -> [u8; 32] {
        Hash::hash(bytes)
    }

    #[test]
    fn a_text_has_the_same_digest_in_every_checkout() {
        let (unix, windows) = (b"a\nb\r\rc\n\n".as_slice(), b"a\r\nb\r\rc\r\n\r\n".as_slice());
        assert_eq!(digest(&[unix]), plain(unix), "the digest of a file with `\\n` is the one of its bytes");
        for at in 0..windows.len() {
            let (before, after) = windows.split_at(at);
            assert_eq!(digest(&[before, after]), plain(unix), "split at {at}");
            assert_eq!(digest(&[before, b"", after]), plain(unix), "split at {at}");
        }
        assert_eq!(digest(&[b"end\r"]), plain(b"end\r"));
        assert_eq!(with_line_feeds("a\r\nb\rc\n"), "a\nb\rc\n");
    }

    #[test]
    fn the_bytes_of_other_files_count() {
        let binary = b"\x7fELF\r\n\0\r\r\n".as_slice();
        for at in 0..binary.len() {
            let (before, after) = binary.split_at(at);
            assert_eq!(digest(&[before, after]), plain(binary), "split at {at}");
        }
    }
}
