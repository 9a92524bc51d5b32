use super::*;

#[test]
fn two_names() {
    assert_eq!(describe(vec!["Ana".into(), "Bo".into()]), "Ana, Bo (2)");
}
