//! The attribute `skip_empty`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemStruct, Type, parse_quote};

pub(crate) fn expand(mut item: ItemStruct) -> TokenStream {
    for field in &mut item.fields {
        let Type::Path(of_type) = &field.ty else { continue };
        let name = of_type.path.segments.last().map(|last| last.ident.to_string());
        let is_empty = match name.as_deref() {
            Some("Option") => "Option::is_none",
            Some("Vec") => "Vec::is_empty",
            Some("Object") => "Object::is_empty",
            _ => continue,
        };
        field.attrs.push(parse_quote!(#[json(default, skip_if = #is_empty)]));
    }
    quote!(#item)
}
