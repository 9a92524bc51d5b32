//! `cargo evalsuite show`, run as a program.

use std::fs;

mod package;

use package::Package;

#[test]
fn transcripts_are_written_as_html() {
    let package = Package::new(&[]);
    package.write("a.json", r#"{ "schema_version": "ATIF-v1.6", "agent": { "name": "x", "version": "1" }, "steps": [{ "step_id": 1, "source": "agent", "message": "hi" }], "unknown": 1 }"#);
    let output = package.run(&["show", "a.json", "a.json", "--html", "page.html"]);
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (0, "page.html\n", ""));
    assert!(fs::read_to_string(package.root().join("page.html")).unwrap().starts_with("<!doctype html>"));
}

#[test]
fn what_is_not_a_transcript_is_an_error() {
    let package = Package::new(&[]);
    package.write("text.json", "{");
    package.write("other.json", "{ \"steps\": [] }");
    package.write("empty.json", "{ \"schema_version\": \"ATIF-v1.8\" }");
    for (file, message) in [
        ("missing.json", "error: missing.json: No such file or directory"),
        ("text.json", "error: text.json: not JSON: EOF while parsing"),
        ("other.json", "error: other.json: not an ATIF document: `schema_version` is not `ATIF-v1.…`"),
        ("empty.json", "error: empty.json: not an ATIF document: `steps` is not a list"),
    ] {
        let output = package.run(&["show", file, "--html", "page.html"]);
        assert_eq!(output.code, 2);
        assert!(output.err.starts_with(message), "{}", output.err);
    }
    assert!(!package.root().join("page.html").exists());
    assert_eq!(package.run(&["show", "text.json"]).code, 2);
}
