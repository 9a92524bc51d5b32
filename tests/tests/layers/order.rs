//! Compares what modules import with the order of the modules in their folder.

use std::collections::BTreeSet;

use evalsuite_tests::source::{CrateSource, Import, Module, imports};
use syn::Item;

use super::references::references;

/// Every import in a folder that goes up, and every module that the order does not know or only the order knows. `inside` are the names
/// from the crate root to the folder, whose order it is; what is outside of the folder is the business of the order there.
pub(crate) fn violations(krate: &CrateSource, inside: &[&str], order: &[&str]) -> Vec<String> {
    let root = inside.iter().fold(&krate.root, |module, name| {
        module.modules.get(*name).unwrap_or_else(|| panic!("{}: there is no module `{name}`", module.file))
    });
    let files: BTreeSet<&str> =
        root.modules.iter().filter(|(_, module)| !module.is_inline).map(|(name, _)| name.as_str()).collect();
    let whole = if inside.is_empty() { "crate" } else { "folder" };
    let mut problems = Vec::new();
    for name in files.iter().filter(|name| !order.contains(name)) {
        problems.push(format!("{}: module `{name}` has no place in the order of layers", root.file));
    }
    for name in order.iter().filter(|name| !files.contains(*name)) {
        problems
            .push(format!("{}: the order of layers names `{name}`, which is not a module of this {whole}", root.file));
    }
    let aliases = own_names(&krate.root.items);
    for (index, layer) in order.iter().enumerate() {
        let Some(module) = root.modules.get(*layer).filter(|module| !module.is_inline) else { continue };
        for module in module.with_descendants() {
            for reference in references(module, &aliases) {
                let Some(below) = below(&reference.path, inside) else { continue };
                let path = reference.path.join("::");
                let at = format!("{}:{}", module.file, reference.line);
                match target(root, below) {
                    Target::Module(name, _) if order[..=index].contains(&name.as_str()) => {}
                    Target::OtherCrate => {}
                    Target::Module(name, Reached::Directly) => {
                        problems.push(format!("{at}: {layer} imports {name} (crate::{path})"));
                    }
                    Target::Module(name, Reached::ThroughRoot) => {
                        problems
                            .push(format!("{at}: {layer} imports {name} (crate::{path}, through the {whole} root)"));
                    }
                    Target::Root => problems.push(format!("{at}: {layer} imports the {whole} root (crate::{path})")),
                    Target::Unknown => problems.push(format!("{at}: {layer} imports an unknown item (crate::{path})")),
                }
            }
        }
    }
    problems
}

/// A path from the crate root as one from the folder; `None` if it leads elsewhere.
pub(crate) fn below<'a>(path: &'a [String], inside: &[&str]) -> Option<&'a [String]> {
    let (first, rest) = path.split_at_checked(inside.len())?;
    first.iter().eq(inside).then_some(rest)
}

/// Where a path from the root of a crate or folder leads.
pub(crate) enum Target {
    /// To a module in it.
    Module(String, Reached),
    /// To an item that the root file defines, to a block of modules in it, or to all of its names.
    Root,
    /// To an item of another crate or folder that the root re-exports.
    OtherCrate,
    /// Nowhere that can be seen.
    Unknown,
}

pub(crate) enum Reached {
    Directly,
    ThroughRoot,
}

pub(crate) fn target(root: &Module, path: &[String]) -> Target {
    let Some(first) = path.first().filter(|first| *first != "*") else { return Target::Root };
    if let Some(module) = root.modules.get(first) {
        return if module.is_inline { Target::Root } else { Target::Module(first.clone(), Reached::Directly) };
    }
    let root_imports = imports(&root.items);
    if let Some(import) = root_imports.iter().find(|import| import.name.as_ref() == Some(first)) {
        return match origin(root, import) {
            Some(name) => Target::Module(name, Reached::ThroughRoot),
            None => Target::OtherCrate,
        };
    }
    if defines(&root.items, first) {
        return Target::Root;
    }
    if let Some((name, _)) = root.modules.iter().find(|(_, module)| exports_macro(module, first)) {
        return Target::Module(name.clone(), Reached::ThroughRoot);
    }
    let globs = root_imports.iter().filter(|import| import.name.is_none());
    let provider = globs.filter_map(|glob| origin(root, glob)).find(|name| {
        let module = &root.modules[name];
        defines(&module.items, first)
            || module.modules.contains_key(first)
            || imports(&module.items).iter().any(|import| import.name.as_ref() == Some(first))
    });
    provider.map_or(Target::Unknown, |name| Target::Module(name, Reached::ThroughRoot))
}

/// The module that an import of the root file comes from; `None` if it comes from elsewhere.
fn origin(root: &Module, import: &Import<'_>) -> Option<String> {
    let path = match import.path.first().map(String::as_str) {
        Some("crate") => below(&import.path[1..], &root.path.iter().map(String::as_str).collect::<Vec<_>>())?,
        Some("self") => &import.path[1..],
        _ => &import.path,
    };
    path.first().filter(|name| root.modules.contains_key(*name)).cloned()
}

/// Whether a module has the macro `name` with `#[macro_export]`, which puts it at the crate root.
fn exports_macro(module: &Module, name: &str) -> bool {
    module.with_descendants().into_iter().flat_map(|module| &module.items).any(|item| match item {
        Item::Macro(item) => {
            item.ident.as_ref().is_some_and(|ident| ident == name)
                && item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
        }
        _ => false,
    })
}

fn defines(items: &[Item], name: &str) -> bool {
    items.iter().any(|item| match item {
        Item::Const(item) => item.ident == name,
        Item::Enum(item) => item.ident == name,
        Item::Fn(item) => item.sig.ident == name,
        Item::Macro(item) => item.ident.as_ref().is_some_and(|ident| ident == name),
        Item::Static(item) => item.ident == name,
        Item::Struct(item) => item.ident == name,
        Item::Trait(item) => item.ident == name,
        Item::Type(item) => item.ident == name,
        Item::Union(item) => item.ident == name,
        _ => false,
    })
}

/// The names that `extern crate self as …` gives the crate.
pub(crate) fn own_names(items: &[Item]) -> Vec<String> {
    let own = items.iter().filter_map(|item| match item {
        Item::ExternCrate(item) if item.ident == "self" => item.rename.as_ref().map(|(_, name)| name.to_string()),
        _ => None,
    });
    own.collect()
}
