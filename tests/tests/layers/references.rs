//! Every path in a module that leads to another place of the crate, whether in a `use`, in code or within a macro call.

use evalsuite_tests::source::{Module, imports};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, Path, Visibility, visit};

/// A path to an item or module of the same crate.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(crate) line: usize,
    /// Names from the crate root. A glob ends with `*`.
    pub(crate) path: Vec<String>,
}

/// The paths in a module's own items that start at the crate root or go up from the module. `aliases` are names of the
/// crate for itself, from `extern crate self as …`. Paths without such a start stay within the module, or begin with a
/// name that another `use` has brought into scope.
pub(crate) fn references(module: &Module, aliases: &[String]) -> Vec<Reference> {
    let mut collector = Collector { module, aliases, found: Vec::new() };
    for item in &module.items {
        collector.visit_item(item);
    }
    collector.found.retain(|found| !module.test_lines.iter().any(|lines| lines.contains(&found.line)));
    collector.found.sort();
    collector.found.dedup();
    collector.found
}

struct Collector<'a> {
    module: &'a Module,
    aliases: &'a [String],
    found: Vec<Reference>,
}

impl Collector<'_> {
    fn imports(&mut self, items: &[Item]) {
        for import in imports(items) {
            let mut path = import.path;
            if import.name.is_none() {
                path.push("*".to_owned());
            }
            self.add(import.line, &path);
        }
    }

    fn add(&mut self, line: usize, path: &[String]) {
        let mut names = path.iter().map(String::as_str).peekable();
        let mut absolute = match names.peek() {
            Some(&"crate") => Vec::new(),
            Some(name) if self.aliases.iter().any(|alias| alias == name) => Vec::new(),
            Some(&("self" | "super")) => self.module.path.clone(),
            _ => return,
        };
        if names.peek() != Some(&"super") {
            names.next();
        }
        while names.next_if_eq(&"super").is_some() {
            absolute.pop();
        }
        absolute.extend(names.map(str::to_owned));
        self.found.push(Reference { line, path: absolute });
    }

    fn add_path(&mut self, path: &Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A lone `self` is the value, `Self` a type.
        if path.leading_colon.is_none() && names.len() > 1 {
            self.add(path.span().start().line, &names);
        }
    }

    /// Looks for paths in tokens that are not parsed.
    fn tokens(&mut self, tokens: TokenStream, in_attribute: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut index = 0;
        while index < tokens.len() {
            let length = self.path_at(&tokens, index).max(1);
            for token in &tokens[index..index + length] {
                match token {
                    TokenTree::Group(group) => self.tokens(group.stream(), in_attribute),
                    TokenTree::Literal(literal) if in_attribute => self.path_in_string(literal),
                    _ => {}
                }
            }
            index += length;
        }
    }

    /// Adds the path that starts at a token, if one does, and returns how many tokens it has.
    fn path_at(&mut self, tokens: &[TokenTree], start: usize) -> usize {
        let is_colon =
            |index: usize| matches!(tokens.get(index), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
        let follows_colons = start >= 2 && is_colon(start - 1) && is_colon(start - 2);
        let TokenTree::Ident(first) = &tokens[start] else { return 0 };
        let line = first.span().start().line;
        let mut names = vec![first.to_string()];
        let mut end = start + 1;
        while is_colon(end) && is_colon(end + 1) {
            match tokens.get(end + 2) {
                Some(TokenTree::Ident(name)) => names.push(name.to_string()),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.use_group(&names, group);
                    return end + 2 - start;
                }
                _ => break,
            }
            end += 3;
        }
        if names.len() > 1 && !follows_colons {
            self.add(line, &names);
        }
        end - start
    }

    /// The braces of a `use` declaration among tokens.
    fn use_group(&mut self, names: &[String], group: &Group) {
        let prefix = names.join("::");
        if let Ok(declaration) = syn::parse_str::<ItemUse>(&format!("use {prefix}::{group};")) {
            let line = group.span_open().start().line;
            for import in imports(&[Item::Use(declaration)]) {
                let mut path = import.path;
                path.extend(import.name.is_none().then(|| "*".to_owned()));
                self.add(line, &path);
            }
        }
    }

    /// `#[serde(default = "crate::model::limit")]` names a function.
    fn path_in_string(&mut self, literal: &proc_macro2::Literal) {
        let text = literal.to_string();
        if let Ok(path) = syn::parse_str::<Path>(text.trim_matches('"')) {
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(literal.span().start().line, &names);
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item_use(&mut self, declaration: &'ast ItemUse) {
        self.imports(&[Item::Use(declaration.clone())]);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        panic!("{}: module `{}` is declared within a function", self.module.file, module.ident);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.add_path(path);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.add_path(&call.path);
        self.tokens(call.tokens.clone(), false);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if !attribute.path().is_ident("doc") {
            self.add_path(attribute.path());
            match &attribute.meta {
                syn::Meta::List(list) => self.tokens(list.tokens.clone(), true),
                syn::Meta::NameValue(pair) => self.visit_expr(&pair.value),
                syn::Meta::Path(_) => {}
            }
        }
    }

    /// `pub(in crate::model)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}
