//! `cargo evalsuite schema`, run as a program.

use crate::package::Package;
use evalsuite_schema::Value;

#[test]
fn the_schema_of_every_kind_is_printed() {
    let package = Package::new(&[]);
    let kinds = package.run(&["schema"]);
    assert_eq!(kinds.code, 0);
    assert!(
        kinds.out.starts_with("eval\ncase\n")
            && kinds.out.contains("\nsummary\ndiff\ncalibrate\ngate\nhealth\nlift\ncalls\ncheck\nclean\n"),
        "{}",
        kinds.out
    );
    for kind in kinds.out.lines() {
        let output = package.run(&["schema", kind]);
        assert_eq!(output.code, 0, "{}", output.err);
        let schema: Value = evalsuite_schema::json::from_str(&output.out).unwrap();
        assert_eq!(schema["title"], format!("evalsuite: {kind}"));
    }
}

#[test]
fn an_unknown_kind_is_an_error_with_a_suggestion() {
    let output = Package::new(&[]).run(&["schema", "cas"]);
    assert_eq!(output.code, 2);
    assert_eq!(output.err, "error: `cas` is not a kind of file\n  = help: did you mean `case`?\n");
}
