//! Functions in Rust source files.

use std::ops::Range;

use proc_macro2::{Ident, TokenStream, TokenTree};

/// The bytes of the name of a function where it is defined.
pub(super) fn find(text: &str, name: &str) -> Option<Range<usize>> {
    if !text.contains(name) {
        return None;
    }
    let found = in_tokens(text.parse().ok()?, name)?;
    Some(found.span().byte_range())
}

fn in_tokens(tokens: TokenStream, name: &str) -> Option<Ident> {
    let mut after_fn = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if after_fn && ident == name => return Some(ident),
            TokenTree::Ident(ident) => {
                after_fn = ident == "fn";
                continue;
            }
            TokenTree::Group(group) => {
                if let Some(found) = in_tokens(group.stream(), name) {
                    return Some(found);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        after_fn = false;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn the_definition_is_found_and_not_a_call() {
        let text = "// é\nfn other() { polite(1); }\nmod a { pub async fn polite(x: u8) {} }\n";
        let range = find(text, "polite").expect("the function");
        assert_eq!((range.start, &text[range]), (text.rfind("polite").expect("it"), "polite"));
        assert_eq!(find(text, "rude"), None);
        assert_eq!(find("fn polite( {", "polite"), None, "not Rust");
    }
}
