use super::*;

#[test]
fn formula() {
    for n in 0..100 {
        assert_eq!(triangular(n), n * (n + 1) / 2);
    }
}
