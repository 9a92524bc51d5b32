//! Values of arguments.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, LitInt, LitStr, Path, Token, token};

use super::{Agent, Judge, NamedExpr, Problem};

/// A string literal; `what` says in an error what it should be.
pub(crate) fn string(input: ParseStream<'_>, what: &str) -> syn::Result<LitStr> {
    let error = expected(input, &format!("{what} as a string literal"));
    input.parse().map_err(|_| error)
}

/// `["a", "b"]`.
pub(crate) fn strings(input: ParseStream<'_>, argument: &str, problems: &mut Vec<Problem>) -> syn::Result<Vec<LitStr>> {
    let content = list(input, argument, "[\"…\"]")?;
    Ok(elements(&content, problems, |element| string(element, "an element")))
}

/// `{ "a" => path, "b" => path }`.
pub(crate) fn map(input: ParseStream<'_>, argument: &str, problems: &mut Vec<Problem>) -> syn::Result<Vec<NamedExpr>> {
    let form = format!("expected `{argument} = {{ \"name\" => path }}`");
    if !input.peek(token::Brace) {
        return Err(error_at_next(input, form));
    }
    let content;
    syn::braced!(content in input);
    Ok(elements(&content, problems, |entry| match entry.peek2(Token![=>]) {
        true => named(entry, "a name"),
        false => Err(error_at_next(entry, &form)),
    }))
}

/// `[path, "name" => path]`. `what` each of them is.
pub(crate) fn functions(
    input: ParseStream<'_>,
    (argument, what): (&str, &str),
    problems: &mut Vec<Problem>,
) -> syn::Result<Vec<NamedExpr>> {
    let content = list(input, argument, &format!("[my_{what}, \"name\" => other_{what}]"))?;
    Ok(elements(&content, problems, |element| {
        if element.peek2(Token![=>]) {
            return named(element, &format!("the name of a {what}"));
        }
        let value: Expr = element.parse()?;
        let span = value.span();
        let error = || syn::Error::new(span, format!("expected the path of a {what}, or `\"name\" => path`"));
        NamedExpr::from_path(value).ok_or_else(error)
    }))
}

/// The path of a crate or module.
pub(crate) fn crate_path(input: ParseStream<'_>) -> syn::Result<Path> {
    let expression: Expr = input.parse()?;
    match ungrouped(&expression) {
        Expr::Path(path) if path.qself.is_none() && path.path.segments.iter().all(|it| it.arguments.is_none()) => {
            Ok(path.path.clone())
        }
        _ => Err(unexpected(&expression, "the path of evalsuite, such as `my_facade::evalsuite`")),
    }
}

/// A path or another expression, `"cli"`, `"acp"` or `none`.
pub(crate) fn agent(input: ParseStream<'_>) -> syn::Result<Agent> {
    let expression: Expr = input.parse()?;
    match ungrouped(&expression) {
        Expr::Path(path) if path.path.is_ident("none") => Ok(Agent::None),
        Expr::Lit(_) if string_of(&expression).is_some_and(|text| text.value() == "cli") => {
            Ok(Agent::Commands { acp: false })
        }
        Expr::Lit(_) if string_of(&expression).is_some_and(|text| text.value() == "acp") => {
            Ok(Agent::Commands { acp: true })
        }
        Expr::Lit(_) => Err(unexpected(&expression, "a path, `\"cli\"`, `\"acp\"` or `none` as agent")),
        _ => Ok(Agent::Expression(Box::new(expression))),
    }
}

/// A path or another expression, a name, or a list of names. A wrong name is reported and left out.
pub(crate) fn judge(input: ParseStream<'_>, problems: &mut Vec<Problem>) -> syn::Result<Judge> {
    let expression: Expr = input.parse()?;
    let unexpected = || unexpected(&expression, "the path of a judge, its name, or a list of names");
    match ungrouped(&expression) {
        Expr::Lit(_) => Ok(Judge::Named(vec![string_of(&expression).ok_or_else(unexpected)?])),
        Expr::Array(array) if array.elems.is_empty() => Err(unexpected()),
        Expr::Array(array) => {
            let mut names = Vec::new();
            for element in &array.elems {
                match string_of(element) {
                    Some(name) => names.push(name),
                    None => {
                        let message = "expected the name of a judge as a string literal";
                        problems.push(Problem::argument(element.span(), message));
                    }
                }
            }
            Ok(Judge::Named(names))
        }
        _ => Ok(Judge::Expression(Box::new(expression))),
    }
}

/// A number.
pub(crate) fn number(input: ParseStream<'_>) -> syn::Result<LitInt> {
    let error = expected(input, "a number");
    input.parse().map_err(|_| error)
}

/// An identifier.
pub(crate) fn identifier(input: ParseStream<'_>) -> syn::Result<Ident> {
    input
        .parse()
        .map_err(|error: syn::Error| syn::Error::new(error.span(), "expected an identifier: `name = my_suite`"))
}

/// `on` or `off`.
pub(crate) fn on_or_off(input: ParseStream<'_>) -> syn::Result<bool> {
    let error = expected(input, "`on` or `off`");
    match Ident::parse_any(input).map(|word| word.to_string()).as_deref() {
        Ok("on") => Ok(true),
        Ok("off") => Ok(false),
        _ => Err(error),
    }
}

/// `"name" => expression`.
fn named(input: ParseStream<'_>, what: &str) -> syn::Result<NamedExpr> {
    let name = string(input, what)?;
    input.parse::<Token![=>]>()?;
    Ok(NamedExpr { name, value: input.parse()? })
}

/// What is in the brackets of a list.
fn list<'i>(input: ParseStream<'i>, argument: &str, form: &str) -> syn::Result<syn::parse::ParseBuffer<'i>> {
    if !input.peek(token::Bracket) {
        return Err(error_at_next(input, format!("expected a list: `{argument} = {form}`")));
    }
    let content;
    syn::bracketed!(content in input);
    Ok(content)
}

/// Elements between commas. Each is parsed by itself; a wrong one is reported and left out.
fn elements<T>(
    content: ParseStream<'_>,
    problems: &mut Vec<Problem>,
    parse: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> Vec<T> {
    let mut elements = Vec::new();
    while !content.is_empty() {
        let element = parse(content).and_then(|element| match content.is_empty() || content.peek(Token![,]) {
            true => Ok(element),
            false => Err(content.error("expected `,`")),
        });
        match element {
            Ok(element) => elements.push(element),
            Err(error) => problems.extend(problems_of(&error)),
        }
        while !content.is_empty() && !content.peek(Token![,]) {
            skip_token(content);
        }
        if !content.is_empty() {
            skip_token(content);
        }
    }
    elements
}

/// An expression as it is inside of the invisible groups that `macro_rules!` puts around what a fragment matched.
fn ungrouped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => ungrouped(&group.expr),
        _ => expression,
    }
}

fn string_of(expression: &Expr) -> Option<LitStr> {
    match ungrouped(expression) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

fn unexpected(found: &Expr, expected: &str) -> syn::Error {
    syn::Error::new(found.span(), format!("expected {expected}, found `{}`", found.to_token_stream()))
}

/// An error at the next token, which is named.
fn expected(input: ParseStream<'_>, what: &str) -> syn::Error {
    match input.cursor().token_tree() {
        Some((token, _)) => error_at_next(input, format!("expected {what}, found `{token}`")),
        None => error_at_next(input, format!("expected {what}")),
    }
}

/// An error at the whole of the next token, which may be a group.
fn error_at_next(input: ParseStream<'_>, message: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(input.cursor().token_tree().map_or_else(Span::call_site, |(token, _)| token.span()), message)
}

/// Skips a token, of which there is at least one.
pub(crate) fn skip_token(input: ParseStream<'_>) {
    let skipped = input.step(|cursor| match cursor.token_tree() {
        Some((_, rest)) => Ok(((), rest)),
        None => Err(cursor.error("the end of the arguments")),
    });
    debug_assert!(skipped.is_ok(), "only called before the end");
}

/// A problem for each part of an error.
pub(crate) fn problems_of(error: &syn::Error) -> Vec<Problem> {
    error.into_iter().map(|error| Problem::argument(error.span(), error.to_string())).collect()
}
