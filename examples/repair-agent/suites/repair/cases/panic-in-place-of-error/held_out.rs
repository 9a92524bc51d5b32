use super::*;

#[test]
fn the_error_says_what_is_wrong() {
    assert_eq!(total("99999999999999999999").unwrap_err().to_string(), "number too large to fit in target type");
    assert_eq!(total("x").unwrap_err().to_string(), "invalid digit found in string");
}

#[test]
fn nothing_is_zero() {
    assert_eq!(total(""), Ok(0));
}
