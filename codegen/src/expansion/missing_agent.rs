//! An agent that is looked up by its name, and is not in the source file with the call.

use proc_macro2::{TokenStream, TokenTree};

use crate::binding::Problem;

/// The error about a `function` that is the agent and that a source file certainly does not have, with those that it has. `None` if it may
/// come from a glob import or a macro: then rustc decides.
pub(super) fn problem(source: &str, function: &str, span: proc_macro2::Span) -> Option<Problem> {
    let tokens: Vec<TokenTree> = source.parse::<TokenStream>().ok()?.into_iter().collect();
    if may_have(&tokens, function) {
        return None;
    }
    let agents = functions_with_trial(&tokens);
    let help = match &agents[..] {
        [] => format!("write it: `async fn {function}(trial: &mut Trial<'_>) -> Result<String, BoxError>`"),
        [first, ..] => {
            let listed: Vec<String> = agents.iter().map(|name| format!("`{name}`")).collect();
            match &listed[..] {
                [only] => format!("here is {only}: write `agent = {first}`"),
                _ => format!("here are {}: write `agent = {first}`, or another one", listed.join(", ")),
            }
        }
    };
    Some(Problem::argument(
        span,
        format!("cannot find the agent: this file has no function `{function}`\nhelp: {help}"),
    ))
}

/// Whether a name or a glob import is anywhere in the file, or the call of another macro where items are.
fn may_have(tokens: &[TokenTree], name: &str) -> bool {
    calls_macro(tokens)
        || all(tokens).windows(2).any(|pair| match &pair[1] {
            TokenTree::Ident(ident) => *ident == name,
            TokenTree::Punct(punct) => punct.as_char() == '*' && is_punct(pair.first(), ':'),
            _ => false,
        })
}

/// Whether a macro that may make functions is called in a module.
fn calls_macro(items: &[TokenTree]) -> bool {
    items.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(ident) => is_punct(items.get(index + 1), '!') && *ident != "include_eval_suite",
        TokenTree::Group(group) => {
            let is_module = index > 1 && matches!(&items[index - 2], TokenTree::Ident(ident) if *ident == "mod");
            is_module && calls_macro(&group.stream().into_iter().collect::<Vec<_>>())
        }
        _ => false,
    })
}

/// The tokens with those in groups, each group after its tokens.
fn all(tokens: &[TokenTree]) -> Vec<TokenTree> {
    let with_inner = |token: &TokenTree| {
        let inner = match token {
            TokenTree::Group(group) => all(&group.stream().into_iter().collect::<Vec<_>>()),
            _ => Vec::new(),
        };
        inner.into_iter().chain([token.clone()]).collect::<Vec<_>>()
    };
    tokens.iter().flat_map(with_inner).collect()
}

/// The functions of the outermost module that take a `Trial`.
fn functions_with_trial(tokens: &[TokenTree]) -> Vec<String> {
    let function = |window: &[TokenTree]| {
        let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = window else { return None };
        let arguments =
            rest.iter().find_map(|token| if let TokenTree::Group(group) = token { Some(group) } else { None })?;
        let takes_trial =
            arguments.stream().into_iter().any(|token| matches!(token, TokenTree::Ident(it) if it == "Trial"));
        (*keyword == "fn" && takes_trial).then(|| name.to_string())
    };
    (0..tokens.len()).filter_map(|start| function(&tokens[start..])).collect()
}

fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::problem;

    fn message(source: &str) -> Option<String> {
        problem(source, "agent", Span::call_site()).map(|problem| problem.text().to_string())
    }

    #[test]
    fn the_functions_that_take_a_trial_are_named() {
        let source = "use evalsuite::{BoxError, Trial};\nevalsuite::include_eval_suite!(\"suites/shop\");\n\
                      async fn respond(trial: &mut Trial<'_>) -> Result<String, BoxError> { ask() }\nfn helper() {}\n\
                      #[test] fn other<'a>(_: &'a mut evalsuite::Trial<'a>) {}";
        let expected = "cannot find the agent: this file has no function `agent`\nhelp: here are `respond`, `other`: write `agent = respond`, or another one";
        assert_eq!(message(source).as_deref(), Some(expected));
        let source = "include_eval_suite!(\"suites/shop\");";
        let expected = "cannot find the agent: this file has no function `agent`\n\
                        help: write it: `async fn agent(trial: &mut Trial<'_>) -> Result<String, BoxError>`";
        assert_eq!(message(source).as_deref(), Some(expected));
    }

    #[test]
    fn a_name_that_may_come_from_elsewhere_is_not_missing() {
        for source in [
            "fn agent() {}",
            "use shop::agent;",
            "use shop::{tools, agents::{run as agent}};",
            "use super::*;",
            "mod evals { fn agent() {} }",
            "use shop::{prelude::*, Tool};",
            "include!(\"agent.rs\");",
            "make_agent!();",
        ] {
            assert_eq!(message(source), None, "{source}");
        }
    }
}
