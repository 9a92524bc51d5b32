//! The derive `Keys`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Field, Fields, Ident, ItemStruct, Result};

use crate::attributes::{Also, Key, Object, doc};

/// The keys of an object, in pieces: those stated here, and those of types whose keys are the object's.
#[derive(Default)]
struct Table {
    pieces: Vec<TokenStream>,
    open: Vec<TokenStream>,
}

impl Table {
    fn close_piece(&mut self) {
        if !self.open.is_empty() {
            let keys = std::mem::take(&mut self.open);
            self.pieces.push(quote!({
                const PIECE: &[Key] = &[#(#keys),*];
                PIECE
            }));
        }
    }

    fn add(&mut self, attributes: &[Attribute]) -> Result<()> {
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("also")) {
            let Also(key) = attribute.parse_args()?;
            if let (Some(name), Some(statement)) = (key.name, key.statement) {
                self.open.push(statement.key(&name.to_string(), ""));
            }
        }
        Ok(())
    }
}

pub(crate) fn expand(item: &ItemStruct) -> Result<TokenStream> {
    let object = match item.attrs.iter().find(|attribute| attribute.path().is_ident("keys")) {
        Some(attribute) => attribute.parse_args()?,
        None => Object::default(),
    };
    let mut table = Table::default();
    let mut fields = Vec::new();
    if let Fields::Named(named) = &item.fields {
        for field in &named.named {
            fields.push(self::field(field, &mut table, object.default)?);
        }
    }
    table.add(&item.attrs)?;
    table.close_piece();

    let name = &item.ident;
    let Object { id, what, example, options, by_hand, default } = object;
    let id = id.map_or_else(String::new, |id| id.value());
    let what = what.map_or_else(|| format!("`{id}`"), |what| what.value());
    let example = example.map_or_else(String::new, |example| example.value());
    let doc = doc(&item.attrs);
    let pieces = &table.pieces;
    let from_parts = if by_hand { from_made(name) } else { from_parts(name, &fields, default) };
    Ok(quote! {
        #[cfg(feature = "keys")]
        const _: () = {
            use crate::diagnostic::Code;
            #[allow(unused_imports, reason = "as its keys need")]
            use crate::keys::{self, FromParts, FromWritten, Key, Keys, Parts, Table, Type::*, Written, range::*, CRITERIA, SOME_CRITERIA};

            const PIECES: &[&[Key]] = &[#(#pieces),*];
            static KEYS: [Key; keys::number_of(PIECES)] = keys::joined(PIECES);
            static TABLE: Table = Table::new(#id, #what, #doc, &KEYS).example(#example) #(#options)*;

            impl Keys for #name {
                const TABLE: &'static Table = &TABLE;
            }

            #from_parts
        };
    })
}

/// The struct as the loader made it.
fn from_made(name: &Ident) -> TokenStream {
    quote! {
        impl FromParts for #name {
            fn from_parts(parts: &mut Parts) -> ::core::option::Option<Self> {
                parts.take("")
            }
        }

        keys::made!(#name);
    }
}

/// The struct from checked values of its fields.
fn from_parts(name: &Ident, fields: &[TokenStream], default: bool) -> TokenStream {
    let defaults = default.then(|| quote!(let default = <Self as ::core::default::Default>::default();));
    quote! {
        impl FromParts for #name {
            fn from_parts(parts: &mut Parts) -> ::core::option::Option<Self> {
                #defaults
                ::core::option::Option::Some(Self { #(#fields),* })
            }
        }

        impl FromWritten for #name {
            fn from_written(written: Written) -> ::core::option::Option<Self> {
                Self::from_parts(&mut written.into_parts()?)
            }
        }
    }
}

/// The field from checked values.
fn field(field: &Field, table: &mut Table, default: bool) -> Result<TokenStream> {
    table.add(&field.attrs)?;
    let Some(name) = &field.ident else { return Err(syn::Error::new_spanned(field, "a field without a name")) };
    let of_type = &field.ty;
    let Some(attribute) = field.attrs.iter().find(|attribute| attribute.path().is_ident("key")) else {
        return Ok(match default {
            true => quote!(#name: default.#name),
            false => quote!(#name: <#of_type as ::core::default::Default>::default()),
        });
    };
    let key: Key = attribute.parse_args()?;
    let Some(statement) = key.statement else {
        table.close_piece();
        table.pieces.push(quote!(<#of_type as Keys>::TABLE.keys));
        return Ok(quote!(#name: <#of_type as FromParts>::from_parts(parts)?));
    };
    let field_name = name.to_string();
    table.open.push(statement.key(&field_name, &doc(&field.attrs)));
    let written = statement.name(&field_name);
    Ok(match &statement.init {
        Some(init) => quote!(#name: parts.take_or(#written, #init)?),
        None if default => quote!(#name: parts.take_or(#written, default.#name)?),
        None => quote!(#name: parts.take(#written)?),
    })
}
