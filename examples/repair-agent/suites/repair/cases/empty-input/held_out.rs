use super::*;

#[test]
fn rounded_down() {
    assert_eq!(mean(&[1, 2]), 1);
    assert_eq!(mean(&[0, 0, 5]), 1);
}

#[test]
fn still_nothing() {
    assert_eq!(mean(&Vec::new()), 0);
}
