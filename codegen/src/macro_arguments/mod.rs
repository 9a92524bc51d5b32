//! The arguments of `include_eval_suite!`, as a binding.

use evalsuite_schema::diagnostics::suggest;
use proc_macro2::{Ident, Span, TokenStream};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};

use crate::binding::argument_table::{problems_of, skip_token, string};
use crate::binding::{Binding, Problem};

pub use crate::binding::argument_table::{ARGUMENTS, Argument};

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
        let mut binding = Binding::new(string(input, "the path of a suite")?);
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

fn known(name: &str) -> Option<&'static Argument> {
    ARGUMENTS.iter().find(|argument| argument.name == name)
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
    let Some(argument) = known(&text) else {
        let names: Vec<&str> = ARGUMENTS.iter().map(|argument| argument.name).collect();
        let help = suggest::did_you_mean_or_known(&text, &names);
        return Err(syn::Error::new(name.span(), format!("unknown argument `{text}`; {help}")));
    };
    if seen.contains(&text) {
        return Err(syn::Error::new(name.span(), format!("argument `{text}` is given twice")));
    }
    seen.push(text.clone());
    let (is_flag, is_assigned) = (argument.value.is_empty(), input.parse::<Option<Token![=]>>()?.is_some());
    let has_value = !input.is_empty() && !input.peek(Token![,]);
    if is_flag && is_assigned {
        return Err(syn::Error::new(name.span(), format!("`{text}` is a flag and takes no value")));
    }
    if !is_flag && !has_value {
        return Err(syn::Error::new(name.span(), format!("argument `{text}` needs a value: `{text} = …`")));
    }
    if !is_flag && !is_assigned {
        return Err(input.error(format!("expected `=` after `{text}`")));
    }
    (argument.parse)(binding, input, problems)
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
    let is_named = input.is_empty() || Ident::parse_any(input).is_ok_and(|name| known(&name.to_string()).is_some());
    is_named || input.peek(Token![=]) && !input.peek(Token![=>]) && !input.peek(Token![==])
}

#[cfg(test)]
mod tests;
