//! Values and comments as promptfoo reads them.

use evalsuite_loader::document::Value;

use crate::report::Place;

/// Comments without those that are for editors of promptfoo configurations.
pub(super) fn comments(lines: &[String]) -> Vec<String> {
    lines.iter().filter(|line| !line.trim_start().starts_with("yaml-language-server:")).cloned().collect()
}

/// The items of a list, or the only value that stands for one, with their places.
pub(super) fn elements<'v>(value: &'v Value, place: &Place) -> Vec<(&'v Value, Place)> {
    let Some(items) = value.items() else { return vec![(value, place.clone())] };
    items.iter().zip(0..).map(|(item, index)| (item, place.below(item.position.line, &format!("[{index}]")))).collect()
}

/// The texts between commas; a text in double quotes may hold commas.
pub(super) fn comma_list(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = text.trim_start_matches(|it: char| it.is_whitespace() || it == ',');
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('"') {
            let (mut field, mut characters) = (String::new(), inner.char_indices().peekable());
            let mut end = inner.len();
            while let Some((at, character)) = characters.next() {
                match (character, characters.peek()) {
                    ('\\', Some((_, escaped @ ('"' | '\\')))) | ('"', Some((_, escaped @ '"'))) => {
                        field.push(*escaped);
                        characters.next();
                    }
                    ('"', _) => {
                        end = at + 1;
                        break;
                    }
                    _ => field.push(character),
                }
            }
            texts.push(field);
            rest = &inner[end..];
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            texts.push(rest[..end].trim().to_owned());
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(|it: char| it.is_whitespace() || it == ',');
    }
    texts
}
