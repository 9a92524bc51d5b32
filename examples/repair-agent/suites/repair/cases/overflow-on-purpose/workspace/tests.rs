use super::*;

#[test]
fn small_sums() {
    assert_eq!(checksum(&[1, 2, 3]), 6);
}

#[test]
fn large_sums_go_round() {
    assert_eq!(checksum(&[200, 100]), 44);
}
