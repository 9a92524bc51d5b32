//! Lenient parsing of replies that are almost JSON.

/// The document with the values of `passed` that are texts or one bare word as `true` or `false`: true if it reads `true`
/// in upper or lower case, else false. An empty text says neither.
pub(crate) fn with_plain_passed(document: &str) -> String {
    let mut result = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(start) = rest.find('"') {
        let end = start + string_length(&rest[start..]);
        let (before, behind) = rest.split_at(end);
        result.push_str(before);
        rest = behind;
        if &before[start..] != "\"passed\"" {
            continue;
        }
        let Some(value) = behind.trim_start().strip_prefix(':').map(str::trim_start) else { continue };
        let length = match value.chars().next() {
            Some('"') if !value.starts_with("\"\"") => string_length(value),
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                value.find(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c)).unwrap_or(value.len())
            }
            _ => continue,
        };
        let word = value[..length].trim_matches(|c: char| c == '"' || c.is_whitespace());
        let separator = behind.len() - value.len();
        result.push_str(&behind[..separator]);
        result.push_str(if word.eq_ignore_ascii_case("true") { "true" } else { "false" });
        rest = &value[length..];
    }
    result.push_str(rest);
    result
}

/// Bytes of the JSON string that `text` starts with, quotes included; all of it where it does not end.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::messages::outer_object;

    #[test]
    fn only_values_of_passed_are_forgiven() {
        for (written, read) in [
            (r#"{"passed": "True"}"#, r#"{"passed": true}"#),
            (r#"{"passed":yes, "a": yes}"#, r#"{"passed":false, "a": yes}"#),
            (r#"{"passed": n_a}"#, r#"{"passed": false}"#),
            (r#"{"passed": not-sure}"#, r#"{"passed": false}"#),
            (r#"{"passed": not sure}"#, r#"{"passed": false sure}"#),
            (r#"{"passed": ""}"#, r#"{"passed": ""}"#),
            (r#"{"passed": null}"#, r#"{"passed": false}"#),
            (r#"{"passed": 1}"#, r#"{"passed": 1}"#),
            (r#"{"passed": ["true"]}"#, r#"{"passed": ["true"]}"#),
            (r#"{"text": "\"passed\": maybe"}"#, r#"{"text": "\"passed\": maybe"}"#),
            (r#"{"a": "passed", "b": "ü"}"#, r#"{"a": "passed", "b": "ü"}"#),
            (r#"{"passed": "unfinished"#, r#"{"passed": false"#),
            (r#"{"passed"#, r#"{"passed"#),
            (r#"{"passed":"#, r#"{"passed":"#),
            (r#"{"passed": "say \"true\""}"#, r#"{"passed": false}"#),
        ] {
            assert_eq!(with_plain_passed(written), read, "{written}");
        }
    }

    #[test]
    fn the_document_is_between_the_outer_braces() {
        for (reply, found) in [
            ("Sure!\n```json\n{\"a\": {}}\n```\nbye", "{\"a\": {}}"),
            ("\u{feff}{\"a\":1}", "{\"a\":1}"),
            ("  PASS \n", "PASS"),
            ("} {", "} {"),
            ("", ""),
        ] {
            assert_eq!(outer_object(reply), found);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_reply_breaks_it(reply in ".*") {
            with_plain_passed(outer_object(&reply));
        }

        #[test]
        fn json_without_such_a_key_stays_as_it_is(texts in proptest::collection::vec(".*", 0..4)) {
            let json = evalsuite_schema::json::json!({"a": texts}).to_string();
            assert_eq!(with_plain_passed(&json), json);
        }
    }
}
