//! The derive `Words`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemEnum, Result};

use crate::json;

pub(crate) fn expand(item: &ItemEnum) -> Result<TokenStream> {
    let style = json::style(&item.attrs)?;
    let words = item.variants.iter().map(|variant| json::word(variant, &style)).collect::<Result<Vec<_>>>()?;
    let (name, variants) = (&item.ident, item.variants.iter().map(|variant| &variant.ident).collect::<Vec<_>>());
    Ok(quote! {
        impl #name {
            /// The words that select it, in the order of its variants.
            pub const WORDS: &'static [&'static str] = &[#(#words),*];

            /// The word that selects it.
            pub fn word(self) -> &'static str {
                match self { #(Self::#variants => #words),* }
            }

            /// What a word selects.
            pub fn of_word(word: &str) -> ::core::option::Option<Self> {
                match word {
                    #(#words => ::core::option::Option::Some(Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl crate::keys::FromWritten for #name {
            fn from_written(written: crate::keys::Written) -> ::core::option::Option<Self> {
                Self::of_word(written.word()?)
            }
        }
    })
}
