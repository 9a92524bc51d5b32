use super::*;

#[test]
fn products_of_all_signs() {
    for left in -5..=5 {
        for right in -5..=5 {
            assert_eq!(apply(Op::Multiply, left, right), left * right);
        }
    }
}
