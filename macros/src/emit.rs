//! Tokens from text.

use evalsuite_build::statics::string_literal;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// Stands first in every expansion. Where items stand it does nothing; where an expression is expected rustc's error ends
/// with the name, which says what to do.
const GUARD: &str = "#[allow(unused_macros)] \
                     macro_rules! include_eval_suite_belongs_outside_of_functions_and_expressions { () => {}; }";

/// The tokens of generated code. Their spans are the macro call, so that no lint looks at them as the user's code.
pub(crate) fn code(text: &str) -> TokenStream {
    match parse(text) {
        Ok(tokens) => tokens,
        Err(error) => compile_error(
            &format!("evalsuite generated code that is not Rust ({error}); please report it"),
            Span::call_site(),
        ),
    }
}

/// The compiler's own lexer is fast in every profile; proc_macro2 reads the text itself before it asks the compiler.
fn parse(text: &str) -> Result<TokenStream, String> {
    if proc_macro::is_available() {
        let tokens: proc_macro::TokenStream = text.parse().map_err(|error: proc_macro::LexError| error.to_string())?;
        return Ok(tokens.into());
    }
    text.parse().map_err(|error: proc_macro2::LexError| error.to_string())
}

/// What every expansion starts with.
pub(crate) fn guard() -> TokenStream {
    code(GUARD)
}

/// A compile error at `span`.
pub(crate) fn compile_error(message: &str, span: Span) -> TokenStream {
    spanned(code(&format!("::core::compile_error! {{ {} }}", string_literal(message))), span)
}

/// A compiler warning at `span`: stable Rust lets a macro warn by using something deprecated.
pub(crate) fn warning(message: &str, span: Span) -> TokenStream {
    let message = string_literal(message);
    let text = format!(
        "#[allow(non_upper_case_globals)] const _: () = {{
            #[deprecated(note = {message})] const eval_suite_warning: () = ();
            eval_suite_warning
        }};"
    );
    spanned(code(&text), span)
}

/// `.method(arguments)`.
pub(crate) fn call(method: &str, arguments: TokenStream) -> TokenStream {
    let mut tokens = code(".");
    tokens.extend([
        TokenTree::Ident(Ident::new(method, Span::call_site())),
        TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments)),
    ]);
    tokens
}

/// Text as a string literal and a comma.
pub(crate) fn name_argument(name: &str) -> TokenStream {
    code(&format!("{}, ", string_literal(name)))
}

/// The module in which an agent that the caller does not name is looked up: it holds the caller's names, and its own name
/// says in rustc's error what to do.
pub(crate) fn agent_scope(module: &str) -> String {
    let name = agent_scope_name(module);
    format!("#[doc(hidden)] #[allow(non_snake_case, unused_imports)] mod {name} {{ pub(super) use super::*; }}")
}

/// Name of the module of [`agent_scope`].
pub(crate) fn agent_scope_name(module: &str) -> String {
    format!(
        "include_eval_suite_needs_this_function_or_the_argument_agent__{}",
        module.strip_prefix("r#").unwrap_or(module)
    )
}

/// `{ tokens }`.
pub(crate) fn block(tokens: TokenStream) -> TokenStream {
    TokenTree::Group(Group::new(Delimiter::Brace, tokens)).into()
}

/// The same tokens, all of them at `span`.
pub(crate) fn spanned(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = TokenTree::Group(Group::new(group.delimiter(), spanned(group.stream(), span)));
            }
            token.set_span(span);
            token
        })
        .collect()
}
