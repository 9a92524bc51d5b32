//! The derive `Words`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Ident, ItemEnum, LitStr, Result};

pub(crate) fn expand(item: &ItemEnum) -> Result<TokenStream> {
    let style = json_text(&item.attrs, "rename_all")?.unwrap_or_default();
    let mut words = Vec::new();
    for variant in &item.variants {
        words.push(match json_text(&variant.attrs, "rename")? {
            Some(word) => word,
            None => written(&variant.ident, &style),
        });
    }
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

/// The text of an option of the attribute `json`.
fn json_text(attributes: &[Attribute], option: &str) -> Result<Option<String>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("json")) {
        attribute.parse_nested_meta(|meta| {
            if meta.input.peek(syn::Token![=]) {
                let text: LitStr = meta.value()?.parse()?;
                if meta.path.is_ident(option) {
                    found = Some(text.value());
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// The name of a variant in the style `style`.
pub(crate) fn written(variant: &Ident, style: &str) -> String {
    let separator = match style {
        "snake_case" => "_",
        "kebab-case" => "-",
        _ => "",
    };
    let mut word = String::new();
    for (index, letter) in variant.to_string().char_indices() {
        if letter.is_uppercase() && index > 0 {
            word.push_str(separator);
        }
        word.extend(letter.to_lowercase());
    }
    word
}
