//! Finds what a path means: an item or module of the crate, or a name of another crate.

use evalsuite_tests::source::{CrateSource, Module, imports};
use syn::{Item, Visibility};

/// What a name stands for. A name may stand for several things, such as a module and a function.
#[derive(Clone, Copy)]
pub(crate) enum Found<'a> {
    Item(&'a Item),
    Module(&'a Module),
}

/// What a path in a module stands for; nothing if it leads to another crate.
pub(crate) fn resolve<'a>(krate: &'a CrateSource, from: &'a Module, path: &[String]) -> Vec<Found<'a>> {
    resolve_within(krate, from, path, 16)
}

fn resolve_within<'a>(krate: &'a CrateSource, from: &'a Module, path: &[String], depth: usize) -> Vec<Found<'a>> {
    let Some((first, mut rest)) = path.split_first() else { return Vec::new() };
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let mut found = match first.as_str() {
        "crate" => vec![Found::Module(&krate.root)],
        "self" => vec![Found::Module(from)],
        "super" => {
            let mut up = from.path.len() - 1;
            while rest.first().is_some_and(|name| name == "super") {
                rest = &rest[1..];
                up -= 1;
            }
            vec![Found::Module(module_at(krate, &from.path[..up]))]
        }
        name => lookup(krate, from, name, depth),
    };
    for name in rest {
        let modules = found.iter().filter_map(|found| match found {
            Found::Module(module) => Some(*module),
            Found::Item(_) => None,
        });
        found = modules.flat_map(|module| lookup(krate, module, name, depth)).collect();
    }
    found
}

fn module_at<'a>(krate: &'a CrateSource, path: &[String]) -> &'a Module {
    path.iter().fold(&krate.root, |module, name| &module.modules[name])
}

/// What a name stands for in a module: what it declares, imports, or gets through a glob.
fn lookup<'a>(krate: &'a CrateSource, module: &'a Module, name: &str, depth: usize) -> Vec<Found<'a>> {
    let declared = module.items.iter().filter(|item| declared_name(item).is_some_and(|declared| declared == name));
    let mut found: Vec<Found<'a>> = declared.map(Found::Item).collect();
    found.extend(module.modules.get(name).map(Found::Module));
    let imports = imports(&module.items);
    for import in imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
        // `use evalsuite_records::record` in a module `record` is about the other crate.
        found.extend(resolve_within(krate, module, &import.path, depth));
    }
    if found.is_empty() {
        for glob in imports.iter().filter(|import| import.name.is_none()) {
            for target in resolve_within(krate, module, &glob.path, depth) {
                if let Found::Module(target) = target {
                    found.extend(lookup(krate, target, name, depth));
                }
            }
        }
    }
    found
}

/// The name an item declares in its module.
pub(crate) fn declared_name(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

/// Whether an item is visible wherever its module is.
pub(crate) fn is_public(item: &Item) -> bool {
    let visibility = match item {
        Item::Const(item) => &item.vis,
        Item::Enum(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        Item::Static(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Union(item) => &item.vis,
        Item::Use(item) => &item.vis,
        _ => return false,
    };
    matches!(visibility, Visibility::Public(_))
}
