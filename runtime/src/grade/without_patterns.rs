//! Takes the place of `patterns` in a build without the feature: graders and steps with patterns are errors.

const WITHOUT: &str = "evalsuite was built without its feature `patterns`";

pub(super) fn is_match(_pattern: &str, _flags: &str, _text: &str) -> Result<bool, String> {
    Err(WITHOUT.to_owned())
}

pub(super) fn replaced(_pattern: &str, _with: &str, _text: &str) -> Result<String, String> {
    Err(WITHOUT.to_owned())
}
