use super::*;

#[test]
fn twice() {
    assert_eq!(double(2), 4);
}

#[test]
fn twice_and_one_more() {
    assert_eq!(double(2), 5);
}
