//! Values and comments as promptfoo reads them.

/// Whether a comment is for editors of promptfoo configurations.
pub(super) fn is_directive(comment: &str) -> bool {
    comment.trim_start().starts_with("yaml-language-server:")
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
