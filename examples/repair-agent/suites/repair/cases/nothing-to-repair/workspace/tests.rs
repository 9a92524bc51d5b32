use super::*;

#[test]
fn common() {
    assert_eq!(gcd(12, 18), 6);
}

#[test]
fn zero() {
    assert_eq!(gcd(0, 5), 5);
}
