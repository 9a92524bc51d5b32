use super::*;

#[test]
fn nothing() {
    assert_eq!(triangular(0), 0);
}

#[test]
fn three() {
    assert_eq!(triangular(3), 6);
}

#[test]
fn ten() {
    assert_eq!(triangular(10), 55);
}
