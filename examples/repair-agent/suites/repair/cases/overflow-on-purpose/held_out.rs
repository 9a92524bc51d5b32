use super::*;

#[test]
fn many_bytes() {
    assert_eq!(checksum(&[255; 256]), 0);
    assert_eq!(checksum(&[255; 3]), 253);
}
