//! Walks what a crate exports, from its root through public modules and re-exports.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr;

use evalsuite_tests::source::{CrateSource, Import, Module, cfg_conditions, imports, is_test_only, item_attributes};
use syn::{
    Attribute, Fields, GenericArgument, ImplItem, Item, ItemImpl, Meta, Path, PathArguments, Token, TraitItem, Type,
    Visibility,
};

use super::expansion::expand_macros;
use super::names::{Found, declared_name, is_public, resolve};
use super::signature;
use super::signature::{is_hidden, is_listed_field};

/// The public items of a crate, one a line, sorted by path.
pub(crate) fn public_api(mut krate: CrateSource, name: &str) -> String {
    expand_macros(&mut krate);
    let mut surface = Surface { krate: &krate, lines: BTreeSet::new(), exported: BTreeMap::new(), walked: Vec::new() };
    surface.module(&krate.root, name, &Vec::new());
    for module in krate.modules() {
        surface.macros(module, name);
    }
    let mut marks = vec![(&krate.root, Vec::new())];
    while let Some((module, conditions)) = marks.pop() {
        for item in &module.items {
            if let Item::Impl(item) = item {
                surface.implementation(module, item, &conditions);
            }
        }
        for child in module.modules.values() {
            marks.push((child, with_conditions(&conditions, declaration_attributes(child))));
        }
    }
    surface.lines.into_iter().map(|line| format!("{}\n", line.text)).collect()
}

/// A line of the listing. Lines of a type stand together: its declaration, what it implements, then what it contains.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    path: String,
    kind: Kind,
    text: String,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Declaration,
    Implementation,
}

/// Conditions of `#[cfg(…)]`.
type Conditions = Vec<String>;

struct Surface<'a> {
    krate: &'a CrateSource,
    lines: BTreeSet<Line>,
    /// The public path and the conditions of each item, by its address.
    exported: BTreeMap<*const Item, (String, Conditions)>,
    walked: Vec<(*const Module, String)>,
}

impl<'a> Surface<'a> {
    fn add(&mut self, path: &str, kind: Kind, conditions: &Conditions, text: &str) {
        let marks: String = conditions.iter().map(|condition| format!("[{condition}] ")).collect();
        self.lines.insert(Line { path: path.to_owned(), kind, text: format!("{marks}{text}") });
    }

    fn declare(&mut self, path: &str, conditions: &Conditions, text: &str) {
        self.add(path, Kind::Declaration, conditions, text);
    }

    /// Everything that a module exports, as exported by `path`.
    fn module(&mut self, module: &'a Module, path: &str, conditions: &Conditions) {
        let key = (ptr::from_ref(module), path.to_owned());
        if self.walked.contains(&key) {
            return;
        }
        self.walked.push(key);
        for item in module.items.iter().filter(|item| is_public(item) && !is_hidden(item_attributes(item))) {
            if let Some(name) = declared_name(item) {
                self.item(item, &format!("{path}::{name}"), conditions);
            }
        }
        for import in imports(&module.items) {
            let attributes = &import.declaration.attrs;
            if matches!(import.declaration.vis, Visibility::Public(_)) && !is_hidden(attributes) {
                self.re_export(module, &import, path, &with_conditions(conditions, attributes));
            }
        }
        for (name, child) in &module.modules {
            let attributes = declaration_attributes(child);
            let is_public = child.declaration.as_ref().is_some_and(|item| matches!(item.vis, Visibility::Public(_)));
            if is_public && !is_hidden(attributes) && !is_hidden(&child.attributes) {
                self.exported_module(child, &format!("{path}::{name}"), &with_conditions(conditions, attributes));
            }
        }
    }

    fn exported_module(&mut self, module: &'a Module, path: &str, conditions: &Conditions) {
        self.declare(path, conditions, &format!("pub mod {path}"));
        self.module(module, path, conditions);
    }

    fn re_export(&mut self, module: &'a Module, import: &Import<'_>, path: &str, conditions: &Conditions) {
        let found = resolve(self.krate, module, &import.path);
        let source = import.path.join("::");
        let Some(name) = &import.name else {
            for found in &found {
                if let Found::Module(target) = found {
                    self.module(target, path, conditions);
                }
            }
            if found.is_empty() {
                self.declare(path, conditions, &format!("pub use {source}::*"));
            }
            return;
        };
        let path = format!("{path}::{name}");
        if found.is_empty() {
            self.declare(&path, conditions, &format!("pub use {source} as {path}"));
        }
        for found in found {
            match found {
                Found::Module(target) => self.exported_module(target, &path, conditions),
                Found::Item(item) if is_public(item) => self.item(item, &path, conditions),
                Found::Item(_) => {}
            }
        }
    }

    fn item(&mut self, item: &'a Item, path: &str, conditions: &Conditions) {
        let conditions = &with_conditions(conditions, item_attributes(item));
        let key = ptr::from_ref(item);
        let is_better = self.exported.get(&key).is_none_or(|(other, _)| (path.len(), path) < (other.len(), other));
        if is_better {
            self.exported.insert(key, (path.to_owned(), conditions.clone()));
        }
        let growing = if has(item_attributes(item), "non_exhaustive") { "#[non_exhaustive] " } else { "" };
        match item {
            Item::Const(item) => {
                self.declare(path, conditions, &format!("pub {}", signature::constant("const", &item.ty, path)))
            }
            Item::Static(item) => {
                self.declare(path, conditions, &format!("pub {}", signature::constant("static", &item.ty, path)))
            }
            Item::Type(item) => self.declare(path, conditions, &format!("pub {}", signature::type_alias(item, path))),
            Item::Fn(item) if has(&item.attrs, "proc_macro") => {
                self.declare(path, conditions, &format!("pub macro {path}!"))
            }
            Item::Fn(item) => self.declare(path, conditions, &format!("pub {}", signature::function(&item.sig, path))),
            Item::Struct(item) => {
                let text = signature::structure(&item.ident, &item.generics, &item.fields, path);
                self.declare(path, conditions, &format!("{growing}pub {text}"));
                self.fields(&item.fields, path, conditions);
                self.derives(&item.attrs, &item.generics, path, conditions);
            }
            Item::Union(item) => {
                let text = signature::type_declaration("union", &item.ident, &item.generics, path);
                self.declare(path, conditions, &format!("{growing}pub {text}"));
            }
            Item::Enum(item) => {
                let text = signature::type_declaration("enum", &item.ident, &item.generics, path);
                self.declare(path, conditions, &format!("{growing}pub {text}"));
                self.derives(&item.attrs, &item.generics, path, conditions);
                for variant in item.variants.iter().filter(|variant| !is_hidden(&variant.attrs)) {
                    let growing = if has(&variant.attrs, "non_exhaustive") { "#[non_exhaustive] " } else { "" };
                    let path = format!("{path}::{}", variant.ident);
                    let conditions = with_conditions(conditions, &variant.attrs);
                    self.declare(&path, &conditions, &format!("{growing}{}", signature::variant(variant, &path)));
                }
            }
            Item::Trait(item) => {
                self.declare(path, conditions, &format!("pub {}", signature::trait_declaration(item, path)));
                for item in &item.items {
                    self.trait_item(item, path, conditions);
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, fields: &Fields, path: &str, conditions: &Conditions) {
        for field in fields {
            if let Some(name) = field.ident.as_ref().filter(|_| is_listed_field(field)) {
                let path = format!("{path}::{name}");
                let conditions = with_conditions(conditions, &field.attrs);
                self.declare(&path, &conditions, &format!("pub {path}: {}", signature::type_text(&field.ty)));
            }
        }
    }

    fn trait_item(&mut self, item: &TraitItem, path: &str, conditions: &Conditions) {
        match item {
            TraitItem::Fn(item) if !is_hidden(&item.attrs) => {
                let path = format!("{path}::{}", item.sig.ident);
                let provided = if item.default.is_some() { " { .. }" } else { "" };
                let text = format!("{}{provided}", signature::function(&item.sig, &path));
                self.declare(&path, &with_conditions(conditions, &item.attrs), &text);
            }
            TraitItem::Const(item) if !is_hidden(&item.attrs) => {
                let path = format!("{path}::{}", item.ident);
                let text = signature::constant("const", &item.ty, &path);
                self.declare(&path, &with_conditions(conditions, &item.attrs), &text);
            }
            TraitItem::Type(item) if !is_hidden(&item.attrs) => {
                let path = format!("{path}::{}", item.ident);
                let text = signature::associated_type(item, &path);
                self.declare(&path, &with_conditions(conditions, &item.attrs), &text);
            }
            _ => {}
        }
    }

    /// `#[derive(…)]` as the implementations it makes.
    fn derives(&mut self, attributes: &[Attribute], generics: &syn::Generics, path: &str, conditions: &Conditions) {
        let (parameters, _, _) = generics.split_for_impl();
        let arguments = quote::quote!(#parameters).to_string().replace(' ', "").replace(',', ", ");
        for (derived, condition) in derived_traits(attributes) {
            let name = derived.segments.last().expect("a path has a name").ident.to_string();
            // What these derives make besides traits that are no API.
            let name = match name.as_str() {
                "ToJson" => "Serialize",
                "FromJson" | "FromJsonOverDefault" => "Deserialize",
                other => other,
            };
            let mut conditions = conditions.clone();
            conditions.extend(condition);
            self.add(path, Kind::Implementation, &conditions, &format!("impl {name} for {path}{arguments}"));
        }
    }

    fn implementation(&mut self, module: &'a Module, item: &ItemImpl, conditions: &Conditions) {
        if is_hidden(&item.attrs) {
            return;
        }
        let own = self.named_item(module, type_path(&item.self_ty));
        let exported = own.and_then(|own| self.exported.get(&ptr::from_ref(own)).cloned());
        if own.is_some() && exported.is_none() {
            return;
        }
        let conditions = &with_conditions(conditions, &item.attrs);
        let Some((trait_path, _)) = &item.trait_ else {
            if let Some((path, of_type)) = exported {
                self.inherent_items(item, &path, &merged(&of_type, conditions));
            }
            return;
        };
        let of_trait = self.named_item(module, Some(trait_path));
        let exported_trait = of_trait.and_then(|own| self.exported.get(&ptr::from_ref(own)).cloned());
        if of_trait.is_some() && exported_trait.is_none() {
            return;
        }
        let public_type = exported.as_ref().map(|(path, _)| path.clone());
        let subject = exported.or(exported_trait).or_else(|| {
            let arguments = type_arguments(trait_path).into_iter();
            let own = arguments.filter_map(|argument| self.named_item(module, type_path(argument)));
            own.filter_map(|own| self.exported.get(&ptr::from_ref(own)).cloned()).next()
        });
        if let Some((path, of_subject)) = subject {
            let text = signature::implementation(item, public_type.as_deref());
            self.add(&path, Kind::Implementation, &merged(&of_subject, conditions), &text);
        }
    }

    fn inherent_items(&mut self, item: &ItemImpl, path: &str, conditions: &Conditions) {
        for item in &item.items {
            match item {
                ImplItem::Fn(item) if is_listed(&item.vis, &item.attrs) => {
                    let path = format!("{path}::{}", item.sig.ident);
                    let text = format!("pub {}", signature::function(&item.sig, &path));
                    self.declare(&path, &with_conditions(conditions, &item.attrs), &text);
                }
                ImplItem::Const(item) if is_listed(&item.vis, &item.attrs) => {
                    let path = format!("{path}::{}", item.ident);
                    let text = format!("pub {}", signature::constant("const", &item.ty, &path));
                    self.declare(&path, &with_conditions(conditions, &item.attrs), &text);
                }
                _ => {}
            }
        }
    }

    /// `#[macro_export]` puts a macro at the root of the crate.
    fn macros(&mut self, module: &Module, name: &str) {
        for item in &module.items {
            if let Item::Macro(item) = item
                && let Some(ident) = &item.ident
                && has(&item.attrs, "macro_export")
                && !is_hidden(&item.attrs)
            {
                let path = format!("{name}::{ident}");
                self.declare(&path, &with_conditions(&Vec::new(), &item.attrs), &format!("pub macro {path}!"));
            }
        }
    }

    /// The type or trait of this crate that a path in a module names.
    fn named_item(&self, module: &'a Module, path: Option<&Path>) -> Option<&'a Item> {
        let names: Vec<String> = path?.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let found = resolve(self.krate, module, &names).into_iter();
        let mut types = found.filter_map(|found| match found {
            Found::Item(item @ (Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Trait(_))) => Some(item),
            _ => None,
        });
        types.next()
    }
}

fn is_listed(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes) && !is_test_only(attributes)
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

fn declaration_attributes(module: &Module) -> &[Attribute] {
    module.declaration.as_ref().map_or(&[], |item| &item.attrs)
}

fn with_conditions(conditions: &Conditions, attributes: &[Attribute]) -> Conditions {
    merged(conditions, &cfg_conditions(attributes))
}

fn merged(conditions: &Conditions, more: &Conditions) -> Conditions {
    let mut all = conditions.clone();
    all.extend(more.iter().filter(|condition| !conditions.contains(condition)).cloned());
    all
}

/// The traits of `#[derive(…)]`, and of `#[cfg_attr(condition, derive(…))]` with the condition.
fn derived_traits(attributes: &[Attribute]) -> Vec<(Path, Option<String>)> {
    type Paths = syn::punctuated::Punctuated<Path, Token![,]>;
    type Metas = syn::punctuated::Punctuated<Meta, Token![,]>;
    let mut found = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("derive") {
            let paths = attribute.parse_args_with(Paths::parse_terminated).unwrap_or_default();
            found.extend(paths.into_iter().map(|path| (path, None)));
        } else if attribute.path().is_ident("cfg_attr") {
            let mut metas = attribute.parse_args_with(Metas::parse_terminated).unwrap_or_default().into_iter();
            let condition = metas.next().map(|meta| quote::quote!(#meta).to_string());
            for meta in metas.filter(|meta| meta.path().is_ident("derive")) {
                if let Meta::List(list) = meta {
                    let paths = list.parse_args_with(Paths::parse_terminated).unwrap_or_default();
                    found.extend(paths.into_iter().map(|path| (path, condition.clone())));
                }
            }
        }
    }
    found
}

/// The path of a type or of what it refers to.
fn type_path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(ty) if ty.qself.is_none() => Some(&ty.path),
        Type::Reference(ty) => type_path(&ty.elem),
        Type::Group(ty) => type_path(&ty.elem),
        Type::Paren(ty) => type_path(&ty.elem),
        _ => None,
    }
}

fn type_arguments(path: &Path) -> Vec<&Type> {
    match &path.segments.last().expect("a path has a name").arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        _ => Vec::new(),
    }
}
