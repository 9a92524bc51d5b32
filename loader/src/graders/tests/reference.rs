//! The reference shows an example of every built-in grader, and they all work.

use std::collections::BTreeSet;

use evalsuite_schema::grader::BUILT_IN;

use crate::tests::Package;

#[test]
fn every_built_in_has_an_example_that_is_read_without_problems() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/graders.md");
    let reference = std::fs::read_to_string(path).expect("the reference");
    let package = Package::new(&[
        ("suite/refund.schema.json", r#"{"type": "object"}"#),
        ("suite/graders/totals.py", "print('fine')"),
    ]);
    let mut shown = BTreeSet::new();
    for row in reference.lines().filter(|line| line.contains(" | `{ type: ")) {
        let cells: Vec<&str> = row.trim_matches([' ', '|']).split(" | ").map(|cell| cell.trim_matches('`')).collect();
        let [linked, example] = cells[..] else { panic!("two cells: {row}") };
        let (parsed, d) = package.read(&format!("[{example}]"));
        assert_eq!(package.lines(&d), Vec::<String>::new(), "{example}");
        let name = parsed[0].grader.config.type_name();
        assert_eq!(linked, format!("[`{name}`](#{name})"));
        shown.insert(name.to_owned());
    }
    assert_eq!(shown, BUILT_IN.iter().map(|name| (*name).to_owned()).collect());
}
