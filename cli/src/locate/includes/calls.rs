//! The calls in a source file that include suites.
//!
//! Not a walk over a syntax tree: calls in functions and in the bodies of other macros are found too.

use evalsuite_build::Generator;
use evalsuite_codegen::arguments::{self, Arguments};
use evalsuite_codegen::binding::{Binding, Problem};
use proc_macro2::{LexError, TokenStream, TokenTree};

use super::generator_calls;

/// A call of `include_eval_suite!` or `evalsuite_build::generate` in a source file.
pub(super) struct Call {
    /// Its line, counted from 1.
    pub(super) line: usize,
    /// What it binds to which suite, or why that is not known.
    pub(super) binding: Result<Box<Binding>, String>,
}

/// The calls in a source file, also under a name that `use … as` gives the macro.
pub(super) fn in_source(text: &str) -> Result<Vec<Call>, LexError> {
    let tokens: TokenStream = text.parse()?;
    let mut names = vec!["include_eval_suite".to_owned()];
    visit_tokens(tokens.clone(), &mut |tokens| {
        if let [TokenTree::Ident(name), TokenTree::Ident(word), TokenTree::Ident(alias), ..] = tokens
            && name == "include_eval_suite"
            && word == "as"
        {
            names.push(alias.to_string());
        }
    });
    let mut calls = Vec::new();
    visit_tokens(tokens, &mut |tokens| calls.extend(call(tokens, &names)));
    Ok(calls)
}

/// The directories that a build script tracks, where they are literals.
pub(crate) fn tracked_directories(tokens: TokenStream) -> Vec<String> {
    let mut directories = Vec::new();
    visit_tokens(tokens, &mut |tokens| match tokens {
        [TokenTree::Ident(name), TokenTree::Group(arguments), ..]
            if name == "track" && generator_calls::is_parenthesized(arguments) =>
        {
            directories.extend(generator_calls::only_text(arguments));
        }
        _ => {}
    });
    directories
}

/// Visits every token in the order of the text, together with the tokens after it in its group.
pub(crate) fn visit_tokens(tokens: TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        visit(&tokens[index..]);
        if let TokenTree::Group(group) = token {
            visit_tokens(group.stream(), visit);
        }
    }
}

/// The call at the start of `tokens`.
fn call(tokens: &[TokenTree], names: &[String]) -> Option<Call> {
    let Some((TokenTree::Ident(name), rest)) = tokens.split_first() else { return None };
    let line = name.span().start().line;
    let (binding, problems) = match rest {
        [TokenTree::Punct(mark), TokenTree::Group(written), ..] if mark.as_char() == '!' => {
            let Arguments { binding, problems } =
                names.iter().any(|known| name == known).then(|| arguments::parse(written.stream()))?;
            (binding, problems)
        }
        [TokenTree::Group(entry), methods @ ..] if name == "generate" && generator_calls::is_parenthesized(entry) => {
            match generator_calls::generator(entry, methods).map(Generator::into_binding) {
                Ok((binding, problems)) => (Some(binding), problems),
                Err(reason) => return Some(Call { line, binding: Err(reason) }),
            }
        }
        _ => return None,
    };
    let binding = match (binding, problems.first()) {
        (Some(binding), None) => Ok(Box::new(binding)),
        (_, problem) => Err(problem.map_or_else(|| "it names no suite".to_owned(), Problem::text)),
    };
    Some(Call { line, binding })
}
