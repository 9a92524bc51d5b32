//! `use` declarations, taken apart into single imports.

use syn::{Item, ItemUse, UseTree};

/// One name, or one glob, that a `use` declaration brings into scope.
#[derive(Clone)]
pub struct Import<'a> {
    /// The path as it is written, without a glob's `*`. The `self` at the end of a group is left out.
    pub path: Vec<String>,
    /// The name in this module; `None` for a glob.
    pub name: Option<String>,
    /// The line of its last name.
    pub line: usize,
    /// The declaration that holds it.
    pub declaration: &'a ItemUse,
}

/// All imports of some items.
pub fn imports(items: &[Item]) -> Vec<Import<'_>> {
    let mut found = Vec::new();
    for item in items {
        if let Item::Use(declaration) = item {
            collect(&declaration.tree, &mut Vec::new(), declaration, &mut found);
        }
    }
    found
}

fn collect<'a>(tree: &UseTree, prefix: &mut Vec<String>, declaration: &'a ItemUse, found: &mut Vec<Import<'a>>) {
    let mut add = |last: Option<&syn::Ident>, name: Option<String>, line| {
        let mut path = prefix.clone();
        path.extend(last.map(ToString::to_string));
        // `use a::{self}` imports `a`, but `use self::b` starts with the current module.
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        found.push(Import { path, name, line, declaration });
    };
    match tree {
        UseTree::Path(tree) => {
            prefix.push(tree.ident.to_string());
            collect(&tree.tree, prefix, declaration, found);
            prefix.pop();
        }
        UseTree::Name(tree) if tree.ident == "self" => {
            add(Some(&tree.ident), prefix.last().cloned(), tree.ident.span().start().line);
        }
        UseTree::Name(tree) => add(Some(&tree.ident), Some(tree.ident.to_string()), tree.ident.span().start().line),
        UseTree::Rename(tree) => add(Some(&tree.ident), Some(tree.rename.to_string()), tree.ident.span().start().line),
        UseTree::Glob(tree) => add(None, None, tree.star_token.spans[0].start().line),
        UseTree::Group(tree) => {
            for tree in &tree.items {
                collect(tree, prefix, declaration, found);
            }
        }
    }
}
