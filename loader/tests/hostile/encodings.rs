//! Bytes that are not text, and characters that should not be there.

use evalsuite_schema::diagnostics::Code;

use crate::{CASE, Package};

const BAD_BYTES: &[&[u8]] = &[b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xe2\x82"];

#[test]
fn bytes_that_are_no_utf8_are_refused_in_every_file() {
    for bad in BAD_BYTES {
        let with = |text: &str| [text.as_bytes(), bad].concat();
        Package::with_eval_file(with("name: a")).load().only(&[Code::InvalidUtf8]);
        let package = Package::new();
        package.write("suite/a/case.yaml", with(CASE));
        package.write("suite/b/case.yaml", format!("{CASE}workspace: ./ws.yaml\n"));
        package.write("suite/b/ws.yaml", with(""));
        package.write(
            "suite/c/case.yaml",
            format!("{CASE}assertions: [{{include: ./t.yaml}}, {{type: llm-grader, prompt: 'file://p.md'}}]\n"),
        );
        package.write("suite/c/t.yaml", with(""));
        package.write("suite/c/p.md", with("{{ output }}"));
        let said = package.load();
        said.only(&[Code::InvalidUtf8; 4]);
        let package = Package::new();
        package.write("suite/suite.json", with("{"));
        package.write("suite/tasks/a.json", with("{"));
        package.load().only(&[Code::InvalidUtf8; 2]);
        let package = Package::new();
        package.write("a.jsonl", with("{\"id\": \"a\"}\n"));
        package.load_entry("a.jsonl").has(Code::InvalidUtf8, "a.jsonl").is_refused();
    }
}

#[test]
fn utf16_is_refused() {
    let utf16: Vec<u8> = "\u{feff}name: a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    Package::with_eval_file(utf16).load().only(&[Code::InvalidUtf8]);
}

#[test]
fn control_characters_are_refused_where_they_stand() {
    for character in ['\0', '\u{1}', '\u{b}', '\u{1b}', '\u{7f}', '\u{9b}', '\u{ffff}'] {
        let package = Package::new();
        package.write("suite/a/case.yaml", format!("{CASE}metadata: {{a: \"b{character}c\"}}\n"));
        package.load().only(&[Code::YamlSyntax]).has_at(Code::YamlSyntax, "suite/a/case.yaml", 3);
        package
            .write("lines.jsonl", format!("\n{{\"id\": \"a{character}\", \"criteria\": \"b\", \"input\": \"c\"}}\n"));
        // JSON takes what ids do not: all but the last one are control characters.
        let said = package.load_entry("lines.jsonl");
        if character == '\u{ffff}' {
            said.is_valid(1);
        } else {
            said.is_refused();
        }
    }
}

#[test]
fn surrogates_that_stand_alone_are_refused() {
    let package = Package::new();
    package.write("lines.jsonl", "{\"id\": \"\\ud800\", \"criteria\": \"b\", \"input\": \"c\"}\n");
    package.load_entry("lines.jsonl").has_at(Code::JsonSyntax, "lines.jsonl", 1);
    package.write("suite/a/case.yaml", "criteria: \"\\ud800\"\ninput: a\n");
    package.load().has_at(Code::YamlSyntax, "suite/a/case.yaml", 1);
}
