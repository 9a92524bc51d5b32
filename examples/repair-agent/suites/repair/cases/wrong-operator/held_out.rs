use super::*;

#[test]
fn ninety_seven_in_four_hundred_years() {
    assert_eq!((1601..=2000).filter(|year| is_leap(*year)).count(), 97);
}
