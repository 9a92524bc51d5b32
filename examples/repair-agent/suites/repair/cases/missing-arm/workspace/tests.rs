use super::*;

#[test]
fn sums_and_differences() {
    assert_eq!(apply(Op::Add, 2, 3), 5);
    assert_eq!(apply(Op::Subtract, 2, 3), -1);
}

#[test]
fn products() {
    assert_eq!(apply(Op::Multiply, 4, 3), 12);
}
