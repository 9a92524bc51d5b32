use super::*;

#[test]
fn every_fourth_year() {
    assert!(is_leap(2024));
    assert!(!is_leap(2023));
}

#[test]
fn no_century() {
    assert!(!is_leap(1900));
}

#[test]
fn every_fourth_century() {
    assert!(is_leap(2000));
}
