use super::*;

#[test]
fn one_long_line_is_too_many() {
    assert!(!fits("short\nmuch too long\n", 8));
}

#[test]
fn short_lines_fit() {
    assert!(fits("a\nbc\n", 2));
}

#[test]
fn nothing_fits_everywhere() {
    assert!(fits("", 0));
}
