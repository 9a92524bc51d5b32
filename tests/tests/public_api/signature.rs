//! Prints declarations without bodies, each on one line.

use quote::{ToTokens, quote};
use syn::{
    Attribute, Fields, FnArg, Generics, Item, ItemImpl, ItemTrait, ItemType, Pat, Path, ReceiverKind, Signature,
    TraitItemType, Type, Visibility,
};

/// `fn path(…) -> …`.
pub(crate) fn function(signature: &Signature, path: &str) -> String {
    let mut signature = signature.clone();
    for input in &mut signature.inputs {
        match input {
            FnArg::Typed(input) => {
                if let Pat::Ident(pattern) = &mut *input.pat {
                    pattern.mutability = None;
                }
            }
            FnArg::Receiver(receiver) if matches!(receiver.kind, ReceiverKind::Value) => receiver.mutability = None,
            FnArg::Receiver(_) => {}
        }
    }
    let name = &signature.ident;
    renamed(&print(&quote!(#signature {})), &format!("fn {name}"), &format!("fn {path}"))
}

/// `struct path<…>`; a tuple with its public fields, and with `{ .. }` if some fields are private.
pub(crate) fn structure(name: &syn::Ident, generics: &Generics, fields: &Fields, path: &str) -> String {
    let text = type_declaration("struct", name, generics, path);
    let (declaration, bounds) = text.split_once(" where ").map_or((&*text, None), |(a, b)| (a, Some(b)));
    let mut text = declaration.to_owned();
    match fields {
        Fields::Unnamed(fields) => {
            let fields = fields.unnamed.iter().map(|field| match field.vis {
                Visibility::Public(_) => format!("pub {}", type_text(&field.ty)),
                _ => "_".to_owned(),
            });
            text.push_str(&format!("({})", fields.collect::<Vec<_>>().join(", ")));
        }
        Fields::Named(fields) if !fields.named.iter().all(is_listed_field) => {
            text.push_str(" { .. }");
        }
        _ => {}
    }
    bounds.map_or(text.clone(), |bounds| format!("{text} where {bounds}"))
}

/// Whether a field is public and not hidden from documentation.
pub(crate) fn is_listed_field(field: &syn::Field) -> bool {
    matches!(field.vis, Visibility::Public(_)) && !is_hidden(&field.attrs)
}

/// Whether there is a `#[doc(hidden)]`.
pub(crate) fn is_hidden(attributes: &[Attribute]) -> bool {
    let mut docs = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    docs.any(|attribute| attribute.parse_args::<Path>().is_ok_and(|path| path.is_ident("hidden")))
}

/// `enum path<…>` or `union path<…>`.
pub(crate) fn type_declaration(keyword: &str, name: &syn::Ident, generics: &Generics, path: &str) -> String {
    let bounds = &generics.where_clause;
    let word = syn::Ident::new(keyword, name.span());
    let field = (keyword == "union").then(|| quote!(a: u8));
    let text = print(&quote!(#word #name #generics #bounds { #field }));
    renamed(text.trim_end_matches(" { a: u8 }"), &format!("{keyword} {name}"), &format!("{keyword} {path}"))
}

/// `path::Variant(…)`, `path::Variant { … }` or `path::Variant`.
pub(crate) fn variant(variant: &syn::Variant, path: &str) -> String {
    let mut variant = variant.clone();
    variant.attrs.clear();
    let fields = variant.fields.iter_mut();
    fields.for_each(|field| field.attrs.clear());
    let text = print(&quote!(enum E { #variant }));
    let text = text.strip_prefix("enum E { ").and_then(|text| text.strip_suffix(", }")).unwrap_or(&text);
    text.replacen(&variant.ident.to_string(), path, 1).replace(", }", " }")
}

/// `trait path<…>: …`.
pub(crate) fn trait_declaration(item: &ItemTrait, path: &str) -> String {
    let ItemTrait { unsafety, ident, generics, colon_token, supertraits, .. } = item;
    let bounds = &generics.where_clause;
    let text = print(&quote!(#unsafety trait #ident #generics #colon_token #supertraits #bounds {}));
    renamed(&text, &format!("trait {ident}"), &format!("trait {path}"))
}

/// `impl<…> Trait for …`, with the last name of the trait's path and, for a type of this crate, its public path.
pub(crate) fn implementation(item: &ItemImpl, path: Option<&str>) -> String {
    let mut item = item.clone();
    item.items.clear();
    item.attrs.clear();
    if let Some((path, _)) = &mut item.trait_ {
        let last = path.segments.last().expect("a path has a name").clone();
        *path = last.into();
    }
    let mut name = None;
    if let (Some(_), Type::Path(ty)) = (path, &mut *item.self_ty) {
        let last = ty.path.segments.last().expect("a path has a name").clone();
        name = Some(last.ident.to_string());
        ty.path = last.into();
    }
    let text = print(&item);
    match (path, name) {
        (Some(path), Some(name)) => renamed(&text, &format!(" for {name}"), &format!(" for {path}")),
        _ => text,
    }
}

/// `keyword path: Type` of a constant or static.
pub(crate) fn constant(keyword: &str, ty: &Type, path: &str) -> String {
    format!("{keyword} {path}: {}", type_text(ty))
}

/// `type path<…> = …`.
pub(crate) fn type_alias(item: &ItemType, path: &str) -> String {
    let ItemType { ident, generics, ty, .. } = item;
    renamed(&print(&quote!(type #ident #generics = #ty;)), &format!("type {ident}"), &format!("type {path}"))
}

/// `type path: …` of a trait.
pub(crate) fn associated_type(item: &TraitItemType, path: &str) -> String {
    let item = TraitItemType { attrs: Vec::new(), ..item.clone() };
    let text = print(&quote!(trait T { #item }));
    let text = text.strip_prefix("trait T { ").and_then(|text| text.strip_suffix("; }")).unwrap_or(&text);
    renamed(text, &format!("type {}", item.ident), &format!("type {path}"))
}

/// A type as it stands in a declaration.
pub(crate) fn type_text(ty: &Type) -> String {
    let text = print(&quote!(type T = #ty;));
    text.trim_start_matches("type T = ").to_owned()
}

/// An item as rustfmt would write it, joined to one line, without its body.
fn print(item: &dyn ToTokens) -> String {
    let tokens = item.to_token_stream();
    let item = syn::parse2::<Item>(tokens.clone()).unwrap_or_else(|error| panic!("cannot print `{tokens}`: {error}"));
    let file = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![item] };
    let mut text = prettyplease::unparse(&file).lines().map(str::trim).collect::<Vec<_>>().join(" ");
    for (from, to) in [("( ", "("), (", )", ")"), (" )", ")"), ("< ", "<"), (", >", ">"), (" >", ">")] {
        text = text.replace(from, to);
    }
    let text = text.strip_suffix("{}").or_else(|| text.strip_suffix(';')).unwrap_or(&text).trim_end();
    without_modules(text.strip_suffix(',').unwrap_or(text))
}

fn renamed(text: &str, from: &str, to: &str) -> String {
    text.replacen(from, to, 1)
}

/// Types without their modules, `crate::model::Score` as `Score`: how a file imports a type is no part of the API. `Result`
/// and `Error` keep one module, since `io::Error` and `fmt::Error` differ.
fn without_modules(text: &str) -> String {
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut output = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_of_path) {
        output.push_str(&rest[..start]);
        let end = rest[start..].find(|c| !is_of_path(c)).map_or(rest.len(), |length| start + length);
        output.push_str(without_module(&rest[start..end]));
        rest = &rest[end..];
    }
    output + rest
}

fn without_module(path: &str) -> &str {
    let starts_upper = |name: &str| name.starts_with(char::is_uppercase);
    let Some((modules, name)) = path.rsplit_once("::") else { return path };
    let is_local = ["crate", "self", "super"].contains(&modules.split("::").next().unwrap_or_default());
    if is_local {
        name
    } else if !starts_upper(name) || modules.split("::").any(starts_upper) {
        path
    } else if ["Error", "Result"].contains(&name) {
        modules.rfind("::").map_or(path, |end| &path[end + 2..])
    } else {
        name
    }
}
