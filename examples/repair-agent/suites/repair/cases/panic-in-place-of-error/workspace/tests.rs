use super::*;

#[test]
fn numbers_are_added() {
    assert_eq!(total("1\n -2\n\n40\n"), Ok(39));
}

#[test]
fn a_word_is_an_error() {
    assert!(total("1\ntwo\n").is_err());
}
