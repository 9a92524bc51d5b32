//! The derive `Keys`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute, Field, Fields, Ident, ItemStruct, Result, Type};

use crate::attributes::{Also, Key, Object, Statement, doc};

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
            let Also(name, statement) = attribute.parse_args()?;
            self.open.push(statement.key(&name.to_string(), ""));
        }
        Ok(())
    }
}

/// A field that has a key.
struct Keyed<'f> {
    field: &'f Ident,
    of_type: &'f Type,
    /// The key and its statement; `None`: the keys of the field's type are keys of the object.
    key: Option<(String, Statement)>,
}

pub(crate) fn expand(item: &ItemStruct) -> Result<TokenStream> {
    let object = match item.attrs.iter().find(|attribute| attribute.path().is_ident("keys")) {
        Some(attribute) => attribute.parse_args()?,
        None => Object::default(),
    };
    let mut table = Table::default();
    let (mut keyed, mut others) = (Vec::new(), Vec::new());
    if let Fields::Named(named) = &item.fields {
        for field in &named.named {
            let Some(name) = &field.ident else { continue };
            match key_of(field, name, &mut table)? {
                Some(field) => keyed.push(field),
                None => others.push(name),
            }
        }
    }
    table.add(&item.attrs)?;
    table.close_piece();

    let name = &item.ident;
    let from_parts = match &object {
        Object { by_hand: true, .. } => from_made(name),
        Object { fill: true, .. } => fill(name, &keyed),
        _ => {
            let values = keyed.iter().map(value);
            let body = quote! {
                ::core::option::Option::Some(Self {
                    #(#values,)*
                    #(#others: ::core::default::Default::default()),*
                })
            };
            from_parts(name, &body)
        }
    };
    let Object { id, what, options, .. } = object;
    let id = id.map_or_else(String::new, |id| id.value());
    let what = what.map_or_else(|| format!("`{id}`"), |what| what.value());
    let doc = doc(&item.attrs);
    let pieces = &table.pieces;
    Ok(quote! {
        const _: () = {
            use crate::diagnostics::Code;
            #[allow(unused_imports, reason = "as its keys need")]
            use crate::keys::{self, FromParts, FromWritten, Key, Keys, Parts, Status, Table, Type::*, Written, range::*};

            const PIECES: &[&[Key]] = &[#(#pieces),*];
            static KEYS: [Key; keys::number_of(PIECES)] = keys::joined(PIECES);
            static TABLE: Table = Table { #(#options,)* ..Table::new(#id, #what, #doc, &KEYS) };

            impl Keys for #name {
                const TABLE: &'static Table = &TABLE;
            }

            #from_parts
        };
    })
}

/// Adds the key of a field to the table.
fn key_of<'f>(field: &'f Field, name: &'f Ident, table: &mut Table) -> Result<Option<Keyed<'f>>> {
    table.add(&field.attrs)?;
    let of_type = &field.ty;
    let mut attributes = field.attrs.iter().filter(|attribute| attribute.path().is_ident("key"));
    let Some(attribute) = attributes.next() else { return Ok(None) };
    let Key(statement) = attribute.parse_args()?;
    let Some(mut statement) = statement else {
        table.close_piece();
        table.pieces.push(quote!(<#of_type as Keys>::TABLE.keys));
        return Ok(Some(Keyed { field: name, of_type, key: None }));
    };
    for attribute in attributes {
        attribute.parse_args_with(|input: ParseStream<'_>| statement.add_options(input))?;
    }
    let written = statement.name(&name.to_string());
    table.open.push(statement.key(&written, &doc(&field.attrs)));
    Ok(Some(Keyed { field: name, of_type, key: Some((written, statement)) }))
}

/// A field of the struct from checked values.
fn value(keyed: &Keyed<'_>) -> TokenStream {
    let Keyed { field, of_type, key } = keyed;
    match key {
        Some((key, Statement { init: Some(init), .. })) => quote!(#field: parts.take_or(#key, #init)?),
        Some((key, _)) => quote!(#field: parts.take(#key)?),
        None => quote!(#field: <#of_type as FromParts>::from_parts(parts)?),
    }
}

fn from_parts(name: &Ident, body: &TokenStream) -> TokenStream {
    quote! {
        impl FromParts for #name {
            fn from_parts(parts: &mut Parts) -> ::core::option::Option<Self> {
                #body
            }
        }

        impl FromWritten for #name {
            fn from_written(written: Written) -> ::core::option::Option<Self> {
                Self::from_parts(&mut Parts::from_written(written)?)
            }
        }
    }
}

/// Replaces fields of the struct by the values that are there.
fn fill(name: &Ident, keyed: &[Keyed<'_>]) -> TokenStream {
    let read = |keyed: &&Keyed<'_>| keyed.key.as_ref().is_some_and(|(_, statement)| !statement.by_hand);
    let lines = keyed.iter().filter(read).map(|Keyed { field, key, .. }| {
        let key = key.as_ref().map(|(key, _)| key);
        quote! {
            if let ::core::option::Option::Some(value) = parts.take_written(#key) {
                self.#field = value;
            }
        }
    });
    quote! {
        impl #name {
            /// Replaces fields by the values of keys that are there.
            pub fn fill(&mut self, parts: &mut Parts) {
                #(#lines)*
            }
        }
    }
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
