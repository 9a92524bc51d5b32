//! Takes the place of `constant_pattern` in a build without the feature `patterns`.

pub(crate) fn constant_match(_pattern: &str, _flags: &str) -> Option<bool> {
    None
}
