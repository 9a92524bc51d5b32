//! The arguments of `include_eval_suite!`, as a binding.

mod table;
mod values;

use evalsuite_loader::suggest;
use proc_macro2::{Ident, Span, TokenStream};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};

use crate::binding::{Binding, Problem};

pub use table::{ARGUMENTS, Argument};

/// The arguments of a call, as far as they could be parsed.
pub struct Arguments {
    /// `None` without a path of a suite.
    pub binding: Option<Binding>,
    pub problems: Vec<Problem>,
}

/// Parses the arguments of a call. Each argument is parsed by itself, so that all problems are found.
pub fn parse(tokens: TokenStream) -> Arguments {
    syn::parse2(tokens).unwrap_or_else(|error| Arguments { binding: None, problems: problems_of(&error) })
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            let message = "missing the path of a suite, such as `\"suites/my_agent\"`";
            return Err(syn::Error::new(Span::call_site(), message));
        }
        let mut binding = Binding::new(values::string(input, "the path of a suite")?);
        let mut problems = Vec::new();
        let mut seen = Vec::new();
        while !input.is_empty() {
            if let Err(error) = next_argument(input, &mut binding, &mut seen, &mut problems) {
                problems.extend(problems_of(&error));
                skip_argument(input);
            }
        }
        Ok(Self { binding: Some(binding), problems })
    }
}

fn is_known(name: &str) -> bool {
    ARGUMENTS.iter().any(|argument| argument.name == name)
}

/// Parses a comma and the argument after it, if there is one.
fn next_argument(
    input: ParseStream<'_>,
    binding: &mut Binding,
    seen: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> syn::Result<()> {
    if !input.peek(Token![,]) {
        return Err(input.error("expected `,` before the next argument"));
    }
    input.parse::<Token![,]>()?;
    if input.is_empty() {
        return Ok(());
    }
    let expected = "expected an argument such as `agent = my_agent`";
    let name = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), expected))?;
    let text = name.to_string();
    if !is_known(&text) {
        let help = suggest::did_you_mean_or_known(&text, &table::names());
        return Err(syn::Error::new(name.span(), format!("unknown argument `{text}`; {help}")));
    }
    if seen.contains(&text) {
        return Err(syn::Error::new(name.span(), format!("argument `{text}` is given twice")));
    }
    seen.push(text.clone());
    if text == "deny_warnings" {
        if input.peek(Token![=]) {
            return Err(syn::Error::new(name.span(), "`deny_warnings` is a flag and takes no value"));
        }
        binding.deny_warnings = true;
        return Ok(());
    }
    let needs_value = || syn::Error::new(name.span(), format!("argument `{text}` needs a value: `{text} = …`"));
    if input.is_empty() || input.peek(Token![,]) {
        return Err(needs_value());
    }
    if !input.peek(Token![=]) {
        return Err(input.error(format!("expected `=` after `{text}`")));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(needs_value());
    }
    value(&text, input, binding, problems)
}

/// Parses the value of the argument `name`. Wrong elements of lists are reported and left out.
fn value(name: &str, input: ParseStream<'_>, binding: &mut Binding, problems: &mut Vec<Problem>) -> syn::Result<()> {
    let mut strings = |input| values::strings(input, name, problems);
    match name {
        "targets" => binding.targets = strings(input)?,
        "require_env" => binding.require_env = strings(input)?,
        "require_commands" => binding.require_commands = strings(input)?,
        "allow" => binding.allow = strings(input)?,
        "crate" => binding.crate_path = Some(values::crate_path(input)?),
        "agent" => binding.agent = values::agent(input)?,
        "agents" => binding.agents = values::map(input, name, problems)?,
        "graders" => binding.graders = values::graders(input, problems)?,
        "judge" => binding.judge = Some(values::judge(input, problems)?),
        "judges" => binding.judges = values::map(input, name, problems)?,
        "judge_confirm" => binding.judge_confirm = Some(values::number(input)?),
        "runtime" => binding.runtime = Some(input.parse()?),
        "name" => binding.name = Some(values::identifier(input)?),
        "ignore" => binding.ignore = Some(values::string(input, "the reason why the tests are ignored")?),
        "fixtures" => binding.fixtures = values::on_or_off(input)?,
        "embed" => binding.embed = values::on_or_off(input)?,
        // The table has no other name.
        _ => {}
    }
    Ok(())
}

/// Skips what is left of an argument: up to the comma before the next `name =`, since a comma may also be a part of an expression that
/// could not be parsed.
fn skip_argument(input: ParseStream<'_>) {
    while !(input.is_empty() || input.peek(Token![,]) && starts_argument(&input.fork())) {
        skip_token(input);
    }
}

fn starts_argument(input: ParseStream<'_>) -> bool {
    skip_token(input);
    let is_named = input.is_empty() || Ident::parse_any(input).is_ok_and(|name| is_known(&name.to_string()));
    is_named || input.peek(Token![=]) && !input.peek(Token![=>]) && !input.peek(Token![==])
}

fn skip_token(input: ParseStream<'_>) {
    let skipped = input.step(|cursor| match cursor.token_tree() {
        Some((_, rest)) => Ok(((), rest)),
        None => Err(cursor.error("the end of the arguments")),
    });
    debug_assert!(skipped.is_ok(), "only called before the end");
}

/// A problem for each part of an error.
fn problems_of(error: &syn::Error) -> Vec<Problem> {
    error.into_iter().map(|error| Problem::argument(error.span(), error.to_string())).collect()
}

#[cfg(test)]
mod tests;
