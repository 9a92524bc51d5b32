use super::*;

#[test]
fn short_lists() {
    assert_eq!(position(&[2, 4, 6], 4), Some(1));
    assert_eq!(position(&[2, 4, 6], 5), None);
}

#[test]
fn the_end_of_a_long_list() {
    let long: Vec<u32> = (0..200).collect();
    assert_eq!(position(&long, 199), Some(199));
    assert_eq!(position(&long, 200), None);
}
