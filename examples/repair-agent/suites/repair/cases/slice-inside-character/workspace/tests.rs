use super::*;

#[test]
fn plain_letters() {
    assert_eq!(shorten("evaluation", 4), "eval");
    assert_eq!(shorten("eval", 10), "eval");
}

#[test]
fn accents() {
    assert_eq!(shorten("été indien", 3), "été");
}

#[test]
fn other_scripts() {
    assert_eq!(shorten("評価スイート", 2), "評価");
}
