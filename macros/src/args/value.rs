//! Values of arguments.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use super::split::{at_commas, flatten, peel};
use super::{Agent, Error, Grader, Judge, literal};

/// A text and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) span: Span,
}

/// A string literal; `what` says in an error what it should be.
pub(crate) fn text(tokens: &[TokenTree], what: &str) -> Result<Text, Error> {
    let [token] = tokens else {
        let span = tokens.get(1).or(tokens.first()).map_or_else(Span::call_site, TokenTree::span);
        return Err(Error::new(span, format!("expected {what} as one string literal")));
    };
    let token = peel(token);
    let value = match &token {
        TokenTree::Literal(written) => literal::string(&written.to_string()),
        _ => None,
    };
    match value {
        Some(value) => Ok(Text { value, span: token.span() }),
        None => Err(Error::new(token.span(), format!("expected {what} as a string literal, found `{token}`"))),
    }
}

/// `["a", "b"]`. A wrong element is reported and left out.
pub(crate) fn texts(tokens: &[TokenTree], argument: &str, errors: &mut Vec<Error>) -> Result<Vec<Text>, Error> {
    let elements = list(tokens, argument, "[\"…\"]")?;
    Ok(elements.into_iter().filter_map(|element| keep(text(&element, "an element"), errors)).collect())
}

/// `{ "a" => path, "b" => path }`. A wrong entry is reported and left out.
pub(crate) fn map(
    tokens: &[TokenTree],
    argument: &str,
    errors: &mut Vec<Error>,
) -> Result<Vec<(Text, TokenStream)>, Error> {
    let form = format!("{argument} = {{ \"name\" => path }}");
    let entries = match tokens {
        [token] => match peel(token) {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => at_commas(group.stream()),
            other => return Err(Error::new(other.span(), format!("expected `{form}`"))),
        },
        _ => return Err(Error::new(span(tokens), format!("expected `{form}`"))),
    };
    let mut map: Vec<(Text, TokenStream)> = Vec::new();
    for entry in entries {
        let read = match named(&entry) {
            Some((name, item)) => {
                text(name, "a name").and_then(|name| match map.iter().any(|(other, _)| other.value == name.value) {
                    true => Err(Error::new(name.span, format!("`{}` is given twice", name.value))),
                    false => Ok((name, item)),
                })
            }
            None => Err(Error::new(span(&entry), format!("expected `{form}`"))),
        };
        map.extend(keep(read, errors));
    }
    Ok(map)
}

/// `[path, "name" => path]`. A wrong element is reported and left out.
pub(crate) fn graders(tokens: &[TokenTree], errors: &mut Vec<Error>) -> Result<Vec<Grader>, Error> {
    let elements = list(tokens, "graders", "[my_grader, \"name\" => other_grader]")?;
    Ok(elements.into_iter().filter_map(|element| keep(grader(&element), errors)).collect())
}

/// `path`, `none` or a string that names a built-in agent.
pub(crate) fn agent(tokens: &[TokenTree]) -> Result<Agent, Error> {
    if let [token] = tokens {
        match peel(token) {
            TokenTree::Ident(ident) if ident == "none" => return Ok(Agent::Nobody),
            TokenTree::Literal(written) => {
                if literal::string(&written.to_string()).as_deref() == Some("cli") {
                    return Ok(Agent::Commands);
                }
                let message = format!("expected a path, `\"cli\"` or `none` as agent, found `{written}`");
                return Err(Error::new(written.span(), message));
            }
            _ => {}
        }
    }
    Ok(Agent::Expression(tokens.iter().cloned().collect()))
}

/// A path or another expression, a name, or a list of names. A wrong name is reported and left out.
pub(crate) fn judge(tokens: &[TokenTree], errors: &mut Vec<Error>) -> Result<Judge, Error> {
    let expected = "expected the path of a judge, its name, or a list of names";
    let [token] = tokens else { return Ok(Judge::Expression(tokens.iter().cloned().collect())) };
    match peel(token) {
        TokenTree::Literal(written) => match literal::string(&written.to_string()) {
            Some(_) => Ok(Judge::Named(unique(vec![text(tokens, "the name of a judge")?], errors))),
            None => Err(Error::new(written.span(), format!("{expected}, found `{written}`"))),
        },
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            if group.stream().is_empty() {
                return Err(Error::new(group.span(), format!("{expected}, found no name")));
            }
            Ok(Judge::Named(unique(texts(tokens, "judge", errors)?, errors)))
        }
        _ => Ok(Judge::Expression(tokens.iter().cloned().collect())),
    }
}

/// Every name once; blank ones and repetitions are reported.
fn unique(names: Vec<Text>, errors: &mut Vec<Error>) -> Vec<Text> {
    let mut unique: Vec<Text> = Vec::new();
    for name in names {
        let problem = match name.value.as_str() {
            blank if blank.trim().is_empty() => Some("the name of a judge is blank".to_owned()),
            value if unique.iter().any(|known| known.value == value) => Some(format!("judge `{value}` is given twice")),
            _ => None,
        };
        match problem {
            Some(problem) => errors.push(Error::new(name.span, problem)),
            None => unique.push(name),
        }
    }
    unique
}

/// An even number from 0 to 10.
pub(crate) fn confirm(tokens: &[TokenTree]) -> Result<u32, Error> {
    let number = match tokens {
        [token] => match peel(token) {
            TokenTree::Literal(written) => written.to_string().parse::<u32>().ok(),
            _ => None,
        },
        _ => None,
    };
    let fits = |number: &u32| *number <= 10 && number.is_multiple_of(2);
    number.filter(fits).ok_or_else(|| {
        let found: TokenStream = tokens.iter().cloned().collect();
        let expected = "expected how many judgements follow a failing one, an even number from 0 to 10";
        Error::new(span(tokens), format!("{expected}, found `{found}`"))
    })
}

/// An identifier.
pub(crate) fn identifier(tokens: &[TokenTree]) -> Result<Ident, Error> {
    if let [token] = tokens
        && let TokenTree::Ident(ident) = peel(token)
    {
        return Ok(ident);
    }
    Err(Error::new(span(tokens), "expected an identifier: `name = my_suite`"))
}

/// `on` or `off`.
pub(crate) fn on_off(tokens: &[TokenTree]) -> Result<bool, Error> {
    let word = identifier(tokens).map(|ident| ident.to_string());
    match word.as_deref() {
        Ok("on") => Ok(true),
        Ok("off") => Ok(false),
        _ => Err(Error::new(span(tokens), "expected `on` or `off`")),
    }
}

fn grader(element: &[TokenTree]) -> Result<Grader, Error> {
    if let Some((name, item)) = named(element) {
        return Ok(Grader { name: text(name, "the name of a grader")?, item });
    }
    let Some(name) = last_segment(&flatten(element.iter().cloned())) else {
        return Err(Error::new(span(element), "expected the path of a grader, or `\"name\" => path`"));
    };
    let written = name.to_string();
    let value = written.strip_prefix("r#").unwrap_or(&written).to_owned();
    Ok(Grader { name: Text { value, span: name.span() }, item: element.iter().cloned().collect() })
}

/// Tokens before and behind `=>`.
fn named(tokens: &[TokenTree]) -> Option<(&[TokenTree], TokenStream)> {
    let is = |index: usize, expected: char| matches!(tokens.get(index), Some(TokenTree::Punct(punct)) if punct.as_char() == expected);
    let arrow = 1;
    if !is(arrow, '=') || !is(arrow + 1, '>') || tokens.len() <= arrow + 2 {
        return None;
    }
    Some((&tokens[..arrow], tokens[arrow + 2..].iter().cloned().collect()))
}

/// The last segment of a path without its generic arguments; `None` if the tokens are no path.
fn last_segment(tokens: &[TokenTree]) -> Option<Ident> {
    let mut last = None;
    let mut angles = 0_usize;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) => match punct.as_char() {
                '<' => angles += 1,
                '>' => angles = angles.checked_sub(1)?,
                ':' => {}
                _ if angles > 0 => {}
                _ => return None,
            },
            _ if angles > 0 => {}
            TokenTree::Ident(ident) => last = Some(ident.clone()),
            _ => return None,
        }
    }
    last
}

fn list(tokens: &[TokenTree], argument: &str, form: &str) -> Result<Vec<Vec<TokenTree>>, Error> {
    if let [token] = tokens
        && let TokenTree::Group(group) = peel(token)
        && group.delimiter() == Delimiter::Bracket
    {
        return Ok(at_commas(group.stream()));
    }
    Err(Error::new(span(tokens), format!("expected a list: `{argument} = {form}`")))
}

fn span(tokens: &[TokenTree]) -> Span {
    tokens.first().map_or_else(Span::call_site, TokenTree::span)
}

fn keep<T>(result: Result<T, Error>, errors: &mut Vec<Error>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}
