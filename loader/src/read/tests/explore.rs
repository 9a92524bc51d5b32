use std::path::Path;
use crate::diagnostic::Diagnostics;
use crate::source::Files;

#[test]
fn explore() {
    let files = Files::new(Path::new("/"));
    let file = files.add(Path::new("/x"));
    let docs = [
        "a: 1\nfoo\nb: 2\n", "a: 1\nfoo", "a: b: c\n", "a:\n\t- b\n", "a:\n\tb: 1\n", "\ta: 1\n", "a: 'x\nb: 2\n", "a: \"x\nb: 2\n", "a: [1, 2\nb: 3\n", "a: {x: 1\nb: 3\n", "a: [1, 2", "a: @foo\n", "a: `x`\n", "- a\nb: 1\n", "a: 1\n- b\n",
        "a: 1\n b: 2\n", "a:\n  b: 1\n c: 2\n", "a: *x\n", "a: &x [*x]\n", "a: &x\n  b: *x\n", "a: \"\\q\"\n", "a: \"\\ud83d\\ude00\"\n", "a: 'x' y\n", "a: |x\n  foo\n", "a: %x\n", "? [a]\n: b\n", "{a: 1, a: 2}\n", "a: !!int x\n", "a: !foo 12\n", "a: ! 12\n", "a: !!binary abc\n", "a: !!seq [1]\n", "a: !!map [1]\n",
        "a: 1\n---\nb: 2\n", "a: 1\n...\nb: 2\n", "---\na: 1\n...\n", "--- a\n--- b\n", "%YAML 1.2\n---\na: 1\n", "%FOO\na: 1\n", "a: .inf\nb: 1e999\n", "a: ]\n", "a: }\n", "a: {b]\n", "a: [b}\n", "key: - a\n", "a: &\n", "a: *\n", "a:b\n", "a: 1 # c\n b\n", "[a, b]: c\n", "a: [b: c]\n", "a: !e!x 1\n", "a: \"x\\x0\"\n", "- - a\n - b\n", "a: |\n  foo\n bar\n", "a: |\n    foo\n  bar\nb: 1\n", "<<: 1\n", "a: {<<: [1, {b: 2}], b: 3}\n", "a\n", "", "# c\n", "a: \u{7}\n", "a: 1\n\u{feff}b: 2\n", "a: x\u{feff}\n", "'a\n", "a: >\n\tx\n", "a: - b\n  - c\n", "a:\n- b\n  - c\n", "a: b\n  c: d\n", "a: \"b\" \"c\"\n", "{a: b, c}\n", "{a: b c: d}\n", "{\"a\":1}\n", "{a: [}\n", "a: {\n  b: 1,\n  c: 2\n", "a: 'it's'\n", "a: x: y\n", "a: {{ x }}\n", "a: [1 2]\n", "&a a: 1\n&b b: 1\n", "x: # c\n  y: 1\n"
    ];
    for doc in docs {
        let mut d = Diagnostics::new();
        let n = crate::read::parse_yaml(file, doc, &mut d);
        eprintln!("{doc:?}");
        if let Some(n) = n { eprintln!("     = {}", n.to_json()); }
        for x in &d {
            let (s, e) = x.span.range.unwrap();
            eprintln!("     {}:{}-{}:{} {} {} ({:?})", s.line, s.column, e.line, e.column, x.code.as_str(), x.message, x.help);
        }
    }
}
