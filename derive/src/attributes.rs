//! The attributes of both derives.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::token::Paren;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result, Token, parenthesized};

/// The attribute `key`: a statement; `None`: the keys of the field's type are keys of the object.
pub(crate) struct Key(pub(crate) Option<Statement>);

/// The attribute `also`: the name of a key without a field, and its statement.
pub(crate) struct Also(pub(crate) Ident, pub(crate) Statement);

/// `TYPE, "example", option, …`, in `also` with the doc after the example.
pub(crate) struct Statement {
    value: Expr,
    example: LitStr,
    doc: Option<LitStr>,
    /// The fields of the key that differ from those of a new one.
    options: Vec<TokenStream>,
    /// Another name than the field's.
    renamed: Option<LitStr>,
    pub(crate) init: Option<Expr>,
    /// Whether the loader reads the key.
    pub(crate) by_hand: bool,
}

impl Statement {
    /// The expression of type `keys::Key`.
    pub(crate) fn key(&self, name: &str, doc: &str) -> TokenStream {
        let Self { value, example, options, .. } = self;
        let name = self.name(name);
        let doc = self.doc.as_ref().map_or_else(|| doc.to_owned(), LitStr::value);
        quote!(Key { #(#options,)* ..Key::new(#name, #value, #doc, #example) })
    }

    /// Options that follow the example, or are in an attribute of their own.
    pub(crate) fn add_options(&mut self, input: ParseStream<'_>) -> Result<()> {
        while !input.is_empty() {
            option(input, self)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    /// The name of the key of the field `name`.
    pub(crate) fn name(&self, name: &str) -> String {
        self.renamed.as_ref().map_or_else(|| name.to_owned(), LitStr::value)
    }
}

impl Parse for Also {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.call(Ident::parse_any)?;
        input.parse::<Token![:]>()?;
        Ok(Self(name, statement(input, true)?))
    }
}

impl Parse for Key {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.fork().parse::<Ident>().is_ok_and(|word| word == "flatten") {
            input.parse::<Ident>()?;
            return Ok(Self(None));
        }
        Ok(Self(Some(statement(input, false)?)))
    }
}

fn statement(input: ParseStream<'_>, with_doc: bool) -> Result<Statement> {
    let value = input.parse()?;
    input.parse::<Token![,]>()?;
    let example = input.parse()?;
    let doc = if with_doc {
        input.parse::<Token![,]>()?;
        Some(input.parse()?)
    } else {
        None
    };
    let mut statement =
        Statement { value, example, doc, options: Vec::new(), renamed: None, init: None, by_hand: false };
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
        statement.add_options(input)?;
    }
    Ok(statement)
}

fn option(input: ParseStream<'_>, statement: &mut Statement) -> Result<()> {
    let name: Ident = input.parse()?;
    let word = name.to_string();
    if word == "name" {
        statement.renamed = Some(assigned(input)?);
        return Ok(());
    }
    let values = values(input)?;
    let first = values.first();
    statement.by_hand |= word == "by_hand";
    statement.options.push(match word.as_str() {
        "init" => {
            statement.init = values.into_iter().next();
            return Ok(());
        }
        "required" | "by_hand" => quote!(#name: true),
        "since" => quote!(since: #first),
        "default" | "unit" | "or" => quote!(#name: ::core::option::Option::Some(#first)),
        "no_effect" => quote!(status: Status::NoEffect(#first)),
        "replaced" => quote!(status: Status::Replaced(#first)),
        "old" => quote!(old: &[#(#values),*]),
        "codes" => quote!(codes: &[#(Code::#values),*]),
        "empty" => quote!(empty: ::core::option::Option::Some((Code::#(#values),*))),
        "refused" => quote!(status: Status::Refused(Code::#(#values),*), codes: &[Code::#first]),
        _ => return Err(syn::Error::new(name.span(), "not an option of a key")),
    });
    Ok(())
}

/// The values of an option: one after `=`, or several in parentheses.
fn values(input: ParseStream<'_>) -> Result<Vec<Expr>> {
    if input.peek(Token![=]) {
        return Ok(vec![assigned(input)?]);
    }
    if !input.peek(Paren) {
        return Ok(Vec::new());
    }
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<Expr, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

/// What follows `=`.
fn assigned<T: Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// The attribute `keys` of a struct.
#[derive(Default)]
pub(crate) struct Object {
    pub(crate) id: Option<LitStr>,
    pub(crate) what: Option<LitStr>,
    /// The fields of the table that differ from those of a new one.
    pub(crate) options: Vec<TokenStream>,
    /// Whether the loader makes the type from what it reads.
    pub(crate) by_hand: bool,
    /// Whether the loader makes the type, and the values of keys replace what it has.
    pub(crate) fill: bool,
}

impl Parse for Object {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut object = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            match name.to_string().as_str() {
                "open" => object.options.push(quote!(is_open: true)),
                "by_hand" => object.by_hand = true,
                "fill" => object.fill = true,
                "id" => object.id = Some(assigned(input)?),
                "what" => object.what = Some(assigned(input)?),
                "common" => {
                    let keys = assigned::<Expr>(input)?;
                    object.options.push(quote!(common: #keys));
                }
                "missing" => {
                    let code = assigned::<Ident>(input)?;
                    object.options.push(quote!(missing: Code::#code));
                }
                _ => return Err(syn::Error::new(name.span(), "not an option of an object")),
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(object)
    }
}

/// The first paragraph of the doc comment, its lines joined.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let mut doc = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &pair.value else { continue };
        let line = line.value();
        if line.trim().is_empty() {
            break;
        }
        if !doc.is_empty() {
            doc.push(' ');
        }
        doc.push_str(line.trim());
    }
    doc
}
