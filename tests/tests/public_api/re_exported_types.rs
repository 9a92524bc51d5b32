//! The types that users meet: what the crate `evalsuite` exports at its root and in `evalsuite::schema`, also of the crates of schema and records.

use evalsuite_tests::source::{CrateSource, Module, imports, item_attributes};
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, Visibility};

use super::names::{Found, declared_name, is_public, resolve};
use super::signature::is_hidden;

/// A type or trait with its path for users, such as `evalsuite::Trial`.
pub(crate) struct PublicType<'a> {
    pub(crate) path: String,
    pub(crate) item: &'a Item,
}

/// The structs, enums and traits that a module of the users' crate exports by name.
pub(crate) fn exported_by<'a>(
    users: &'a CrateSource,
    parts: &'a [(&str, CrateSource)],
    module: &'a Module,
) -> Vec<PublicType<'a>> {
    let mut types = Vec::new();
    for import in imports(&module.items) {
        let is_exported = matches!(import.declaration.vis, Visibility::Public(_));
        if !is_exported || is_hidden(&import.declaration.attrs) {
            continue;
        }
        let Some(name) = &import.name else { continue };
        let path: Vec<&str> = ["evalsuite"].into_iter().chain(module.path.iter().map(String::as_str)).collect();
        let path = format!("{}::{name}", path.join("::"));
        let part = parts.iter().find(|(name, _)| import.path.first().is_some_and(|first| first == name));
        let found = match part {
            Some((_, part)) => {
                let path: Vec<String> = ["crate".to_owned()].into_iter().chain(import.path[1..].to_owned()).collect();
                resolve(part, &part.root, &path)
            }
            None => resolve(users, module, &import.path),
        };
        for found in found {
            match found {
                Found::Item(item) => types.push(PublicType { path: path.clone(), item }),
                Found::Module(module) => types.extend(declared_by(module, &path)),
            }
        }
    }
    types.retain(|found| matches!(found.item, Item::Struct(_) | Item::Enum(_) | Item::Trait(_)));
    types
}

/// The public items of a module, those of its files included that it exports by name.
fn declared_by<'a>(module: &'a Module, path: &str) -> Vec<PublicType<'a>> {
    let own = std::iter::once(module).chain(module.modules.values()).flat_map(|module| &module.items);
    let public = own.filter(|item| is_public(item));
    public.filter_map(|item| Some(PublicType { path: format!("{path}::{}", declared_name(item)?), item })).collect()
}

impl PublicType<'_> {
    /// Whether the docs have an example that is compiled.
    pub(crate) fn has_compiled_example(&self) -> bool {
        let mut is_open = false;
        let docs = item_attributes(self.item).iter().filter_map(doc_line);
        docs.filter_map(|line| line.trim().strip_prefix("```").map(str::to_owned)).any(|info| {
            is_open = !is_open;
            is_open && matches!(info.as_str(), "" | "rust" | "no_run" | "compile_fail")
        })
    }

    /// Whether the type may get fields or variants without a breaking release: it is non-exhaustive, or has a private field.
    pub(crate) fn can_grow(&self) -> bool {
        let marked = item_attributes(self.item).iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
        let is_public = |field: &syn::Field| matches!(field.vis, Visibility::Public(_));
        marked
            || match self.item {
                Item::Struct(item) => item.fields.is_empty() || !item.fields.iter().all(is_public),
                Item::Enum(_) => false,
                _ => true,
            }
    }
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
