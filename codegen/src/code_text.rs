//! Code as text that becomes tokens.
//!
//! The shell around a suite is built with `quote!`. Cases, tests, embedded files and trackers, of which a suite has thousands, are text
//! that is parsed once: the cache of the build script holds text anyway, and for 2,000 cases of 400 bytes an unoptimised macro needs
//! 0.02 s through one text and 0.04 s through `quote!`.

use proc_macro2::TokenStream;
use quote::quote;

/// The tokens of `text`, with call-site spans: no lint looks at them as the user's code.
pub(crate) fn tokens(text: &str) -> TokenStream {
    parse(text).unwrap_or_else(|error| {
        let message = format!("evalsuite generated code that is not Rust ({error}); please report it");
        quote!(::core::compile_error!(#message);)
    })
}

/// In a macro the compiler's lexer is called directly: it is optimised in every profile, and proc_macro2 would read the text once more
/// by itself.
fn parse(text: &str) -> Result<TokenStream, String> {
    if proc_macro::is_available() {
        let tokens: proc_macro::TokenStream = text.parse().map_err(|error: proc_macro::LexError| error.to_string())?;
        return Ok(tokens.into());
    }
    text.parse().map_err(|error: proc_macro2::LexError| error.to_string())
}
