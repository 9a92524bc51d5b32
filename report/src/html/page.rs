//! The page around the data.

use std::io;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac_sha256::Hash;

use super::assets;
use super::chunks::packed;

/// A page with an index.
pub(super) struct Page<'a> {
    /// The index as JSON.
    pub(super) index: &'a str,
    pub(super) placement: Placement<'a>,
}

/// Where the chunks are.
pub(super) enum Placement<'a> {
    /// In the page.
    Inside(&'a [String]),
    /// In files of their own.
    Beside,
}

impl Page<'_> {
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let script = assets::script();
        let files = match self.placement {
            Placement::Inside(_) => "",
            Placement::Beside => " 'self'",
        };
        let (script_digest, style_digest) = (digest(&script), digest(assets::STYLE));
        writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
        writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src \
             'sha256-{script_digest}'{files}; style-src 'sha256-{style_digest}'; img-src data:; base-uri 'none'; form-action \
             'none'\">"
        )?;
        writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">\n<title>evalsuite report</title>")?;
        // The digests are of exactly what is between the tags.
        writeln!(out, "<style>{}</style>\n</head>\n<body>", assets::STYLE)?;
        writeln!(out, "<noscript>This report needs JavaScript. It loads nothing from the network.</noscript>")?;
        writeln!(out, "{}", data_element("index", &packed(self.index)))?;
        // Not deferred: the page works while the browser still reads the chunks.
        writeln!(out, "<script>{script}</script>")?;
        if let Placement::Inside(chunks) = self.placement {
            for (number, chunk) in chunks.iter().enumerate() {
                writeln!(out, "{}", data_element(&format!("c{number}"), chunk))?;
            }
        }
        writeln!(out, "</body>\n</html>")
    }
}

fn data_element(id: &str, base64: &str) -> String {
    format!("<script type=\"application/octet-stream\" id=\"{id}\">{base64}</script>")
}

/// Name of the file of a chunk beside the page.
pub(super) fn chunk_file(number: usize) -> String {
    format!("c{number}.js")
}

/// A chunk as a file of its own: pages opened from a disk can load scripts, but nothing else.
pub(super) fn chunk_script(number: usize, base64: &str) -> String {
    format!("evalsuiteChunk({number},\"{base64}\");\n")
}

fn digest(text: &str) -> String {
    STANDARD.encode(Hash::hash(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(placement: Placement<'_>) -> String {
        let mut out = Vec::new();
        Page { index: "{}", placement }.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_policy_allows_only_this_script_and_this_style() {
        let page = page(Placement::Inside(&[]));
        let between = |open: &str, close: &str| {
            let start = page.find(open).unwrap() + open.len();
            &page[start..start + page[start..].find(close).unwrap()]
        };
        let policy = between("Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains(&format!("script-src 'sha256-{}';", digest(between("<script>", "</script>")))));
        assert!(policy.contains(&format!("style-src 'sha256-{}';", digest(between("<style>", "</style>")))));
        assert!(!policy.contains("unsafe") && !policy.contains("'self'") && !policy.contains("http"), "{policy}");
    }

    #[test]
    fn script_and_style_do_not_end_their_elements() {
        assert!(!assets::script().to_ascii_lowercase().contains("</script"));
        assert!(!assets::script().contains("<!--"));
        assert!(!assets::STYLE.to_ascii_lowercase().contains("</style"));
    }

    #[test]
    fn the_script_never_makes_markup_of_text() {
        for name in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "Function("]
        {
            assert!(!assets::script().contains(name), "{name}");
        }
    }

    #[test]
    fn chunks_are_in_the_page_or_in_files() {
        assert!(page(Placement::Inside(&["QUJD".to_owned()])).contains("id=\"c0\">QUJD</script>"));
        let beside = page(Placement::Beside);
        assert!(
            beside.contains("script-src 'sha256-") && beside.contains("' 'self';") && !beside.contains("id=\"c0\"")
        );
        assert_eq!(chunk_file(3), "c3.js");
        assert_eq!(chunk_script(3, "QUJD"), "evalsuiteChunk(3,\"QUJD\");\n");
    }
}
