use super::*;

#[test]
fn no_names() {
    assert_eq!(describe(Vec::new()), " (0)");
}

#[test]
fn the_names_stay_in_order() {
    assert_eq!(describe(vec!["b".into(), "a".into(), "b".into()]), "b, a, b (3)");
}
