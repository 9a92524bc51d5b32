use super::*;

#[test]
fn the_limit_itself_is_allowed() {
    assert!(fits("été\n評価\n", 3));
    assert!(!fits("été\n評価\n", 2));
}
