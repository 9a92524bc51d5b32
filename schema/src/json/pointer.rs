//! Steps of JSON Pointers (RFC 6901).

/// The key that a step of a pointer names: `a~1b` names `a/b`.
pub fn key_of_step(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The step of a pointer that names a key: the reverse of [`key_of_step`].
pub fn step_of_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_names_the_key_that_it_was_made_of() {
        for (key, step) in [("a/b", "a~1b"), ("~", "~0"), ("~1", "~01"), ("a.b", "a.b"), ("", "")] {
            assert_eq!((step_of_key(key).as_str(), key_of_step(step).as_str()), (step, key));
        }
    }
}
