use super::*;

#[test]
fn some() {
    assert_eq!(mean(&[1, 2, 6]), 3);
}

#[test]
fn one() {
    assert_eq!(mean(&[7]), 7);
}

#[test]
fn none() {
    assert_eq!(mean(&[]), 0);
}
