//! Tokens cut at the commas that separate arguments.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The parts between top-level commas. A trailing comma adds no part; commas between the `<…>` of a path and between the
/// parameters of a closure separate nothing.
pub(crate) fn at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = Vec::new();
    let mut part: Vec<TokenTree> = Vec::new();
    let mut angles = 0_usize;
    let mut in_parameters = false;
    for token in tokens {
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                ',' if angles == 0 && !in_parameters => {
                    parts.push(std::mem::take(&mut part));
                    continue;
                }
                '<' if angles > 0 || opens_generics(&part) => angles += 1,
                '>' if angles > 0 && !ends_with(&part, &['-', '=']) => angles -= 1,
                '|' if in_parameters => in_parameters = false,
                '|' if starts_expression(&part) => in_parameters = true,
                _ => {}
            }
        }
        part.push(token);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// The token in the invisible group that `macro_rules!` puts around what a fragment such as `$path:literal` matched.
pub(crate) fn peel(token: &TokenTree) -> TokenTree {
    if let TokenTree::Group(group) = token
        && group.delimiter() == Delimiter::None
    {
        let mut inner = group.stream().into_iter();
        if let (Some(only), None) = (inner.next(), inner.next()) {
            return peel(&only);
        }
    }
    token.clone()
}

/// All tokens, with what invisible groups hold in their place.
pub(crate) fn flatten(tokens: impl IntoIterator<Item = TokenTree>) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in tokens {
        match &token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat.extend(flatten(group.stream())),
            _ => flat.push(token),
        }
    }
    flat
}

fn opens_generics(before: &[TokenTree]) -> bool {
    ends_with(before, &[':']) || starts_expression(before)
}

fn starts_expression(before: &[TokenTree]) -> bool {
    match before.last() {
        None => true,
        Some(TokenTree::Ident(ident)) => ident == "async" || ident == "move",
        Some(TokenTree::Punct(punct)) => {
            punct.as_char() == '=' || (punct.as_char() == '>' && ends_with(&before[..before.len() - 1], &['=']))
        }
        Some(_) => false,
    }
}

fn ends_with(tokens: &[TokenTree], any_of: &[char]) -> bool {
    matches!(tokens.last(), Some(TokenTree::Punct(punct)) if any_of.contains(&punct.as_char()))
}
