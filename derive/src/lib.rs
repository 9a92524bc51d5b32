//! Derives for the types of `evalsuite-schema`: a key of a file is stated once, on the field that holds its value.
//!
//! `Keys` makes the table of an object's keys and the way from checked values to the type:
//!
//! ```ignore
//! /// One expected call of a tool.
//! #[derive(Keys)]
//! #[keys(id = "expected-call", what = "an expected call")]
//! pub struct ExpectedCall {
//!     /// Longest duration of the call.
//!     #[key(Number(&NOT_NEGATIVE), "500", old("maxDurationMs"), unit = "milliseconds")]
//!     pub max_duration_ms: Option<f64>,
//! }
//! ```
//!
//! `ToJson` and `FromJson` write and read the JSON of cases and records.
//!
//! `Words` makes the list of words that select the variants of an enum, from its `json` attributes.
//!
//! `skip_empty` leaves what a struct does not hold out of its JSON.
//!
//! A declarative macro that makes the same tables compiles no faster. For five graders and the case, a build of `evalsuite-schema` takes
//! 42 ms longer with the derive than without tables, and 47 ms longer with such a macro; a check takes 50 and 29 ms longer. (Thirty copies
//! of the six types, medians of five, on two cores.) The derive needs no syntax of its own around the struct, and reports a misspelled
//! option where it is written.
//!
//! This crate is a part of evalsuite, whose crates require each other at exactly one version. It has no stable API.

mod attributes;
mod json;
mod keys;
mod words;

use proc_macro::TokenStream;

/// The table of keys of a struct, and the struct from checked values.
///
/// On the struct: `#[keys(id = "…", what = "…")]`, with `open` if other keys are settings, too, `missing = Code` for the diagnostic of a
/// required key, `common = EXPRESSION` for keys that it shares with other objects, and for how the type is made: `fill` if the loader
/// makes it and keys replace what it has, `by_hand` if the loader does all of it.
///
/// On a field: `#[key(TYPE, "example", …)]` with a `keys::Type`, and any of `required`, `default = "words"`, `unit = "words"`,
/// `old("spelling", …)`, `or = "spelling"`, `name = "key"`, `codes(Code, …)`, `empty(Code, "is empty", "help")`, `since = "0.2"`,
/// `by_hand` (the loader reads it) and `init = EXPRESSION` (the value without the key); or `#[key(flatten)]`. Options can also be in
/// further attributes: `#[key(codes(Code, …))]`.
/// The first paragraph of its doc comment is what the reference says.
///
/// `#[also(key: TYPE, "example", "doc", …)]` on a field or on the struct states a key that has no field, before those of the field or
/// after all: also with `no_effect = "what to do instead"`, `replaced = "key"` and `refused(Code, "message", "help")`.
#[proc_macro_derive(Keys, attributes(keys, key, also))]
pub fn keys(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|item| keys::expand(&item)).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// `ToJson` and `Serialize` for a struct with named fields, a struct with one value (which is written as this value), or an enum, whose
/// variants are a text or, with data, an object with one key.
///
/// `#[json(…)]` on the type: `rename_all = "kebab-case"` for variants, which are in snake_case without it, and `default`: absent fields
/// have the value of the type's default. `fill = "function"`: read as by [`macro@FromJsonOverDefault`], over what the function returns. `part`: no
/// JSON of its own; its fields are fields of each object that has it in a field with `flatten`. Such an object is read over a default.
///
/// On a field or variant: `rename = "name"`. On a field: `default` or `default = "function"` for a value that is absent,
/// `skip_if = "function"` to leave it out of JSON, `read_with = "function"` from a `Value`, `skip`, and `flatten`.
#[proc_macro_derive(ToJson, attributes(json))]
pub fn to_json(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|item| json::to_json(&item)).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// `FromJson` and `Deserialize`; attributes as for [`macro@ToJson`].
#[proc_macro_derive(FromJson, attributes(json))]
pub fn from_json(input: TokenStream) -> TokenStream {
    read(input, false)
}

/// The same for a struct with a default, whose fields are replaced: reads as [`macro@FromJson`] does, with less code.
#[proc_macro_derive(FromJsonOverDefault, attributes(json))]
pub fn from_json_over_default(input: TokenStream) -> TokenStream {
    read(input, true)
}

fn read(input: TokenStream, over_default: bool) -> TokenStream {
    let read = syn::parse(input).and_then(|item| json::from_json(&item, over_default));
    read.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The words of an enum without data: its variants as JSON has them.
#[proc_macro_derive(Words, attributes(json))]
pub fn words(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|item| words::expand(&item)).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Leaves fields that hold nothing out of a struct's JSON: options that are `None`, and lists and objects that are empty. A field that is
/// absent holds nothing. It has to stand before the derives.
///
/// `#[skip_empty(.., name, …)]`: also these fields, if they have the default of their type. `#[skip_empty(name, …)]`: only these.
#[proc_macro_attribute]
pub fn skip_empty(skipped: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = syn::parse(skipped).and_then(|skipped| json::skip_empty(skipped, syn::parse(item)?));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}
