//! The source code of a crate: its modules and their items, parsed, without test code.

mod attributes;
mod code_lines;
mod imports;

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use syn::{Attribute, Item, ItemMod};

pub use attributes::{cfg_conditions, is_test_only, item_attributes, test_lines};
pub use code_lines::count_code_lines;
pub use imports::{Import, imports};

pub use crate::throwaway::workspace as workspace_root;

/// Folders of the published crates.
pub const PRODUCT_FOLDERS: &[&str] = &[
    "derive",
    "schema",
    "loader",
    "build",
    "codegen",
    "macros",
    "records",
    "runtime",
    "statistics",
    "report",
    "convert",
    "dynamic",
    "cli",
];

/// Texts of Rust files by their paths, relative to the workspace root with `/` separators.
pub type SourceFiles = BTreeMap<String, String>;

/// A crate's modules.
pub struct CrateSource {
    /// `lib.rs` or `main.rs`.
    pub root: Module,
}

/// A module: a file or a block `mod name { … }`.
pub struct Module {
    /// Names from the crate root to this module; empty for the root.
    pub path: Vec<String>,
    /// The file that holds it.
    pub file: String,
    /// The item that declares it, without content; `None` for the root.
    pub declaration: Option<ItemMod>,
    /// Whether it is a block within its parent's file.
    pub is_inline: bool,
    /// Inner attributes of the file.
    pub attributes: Vec<Attribute>,
    /// Lines of the file that are test code, such as a method with `#[cfg(test)]`.
    pub test_lines: Vec<RangeInclusive<usize>>,
    /// Its items other than modules.
    pub items: Vec<Item>,
    /// Its child modules.
    pub modules: BTreeMap<String, Module>,
}

/// Reads every `.rs` file below a folder of a workspace.
pub fn read_source_files(workspace: &Path, folder: &str) -> SourceFiles {
    let mut files = SourceFiles::new();
    read_folder(workspace, folder, &mut files);
    files
}

fn read_folder(workspace: &Path, folder: &str, files: &mut SourceFiles) {
    let entries = fs::read_dir(workspace.join(folder)).unwrap_or_else(|error| panic!("cannot list {folder}: {error}"));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("cannot list {folder}: {error}"));
        let name = entry.file_name().into_string().expect("file names are UTF-8");
        let shown = format!("{folder}/{name}");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            read_folder(workspace, &shown, files);
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|error| panic!("cannot read {shown}: {error}"));
            files.insert(shown, text);
        }
    }
}

impl CrateSource {
    /// Parses the modules of the crate whose sources are in `folder`, such as `runtime/src`.
    ///
    /// # Panics
    ///
    /// If a file is missing or is not valid Rust.
    pub fn parse(files: &SourceFiles, folder: &str) -> Self {
        let root = ["lib.rs", "main.rs"].map(|name| format!("{folder}/{name}"));
        let root = root.iter().find(|path| files.contains_key(*path));
        let root = root.unwrap_or_else(|| panic!("{folder} has neither lib.rs nor main.rs"));
        let mut module = Module::empty(Vec::new(), root.clone(), None);
        module.read(files, folder);
        Self { root: module }
    }

    /// All modules, parents before their children.
    pub fn modules(&self) -> Vec<&Module> {
        self.root.with_descendants()
    }
}

impl Module {
    fn empty(path: Vec<String>, file: String, declaration: Option<ItemMod>) -> Self {
        Self {
            path,
            file,
            declaration,
            is_inline: false,
            attributes: Vec::new(),
            test_lines: Vec::new(),
            items: Vec::new(),
            modules: BTreeMap::new(),
        }
    }

    /// Takes the items of this module's file.
    fn read(&mut self, files: &SourceFiles, folder: &str) {
        let file = parse_file(&self.file, &files[&self.file]);
        self.test_lines = test_lines(&file);
        self.attributes = file.attrs;
        self.fill(files, folder, file.items);
    }

    /// Takes the items of this module; the files of its children are in `folder`.
    fn fill(&mut self, files: &SourceFiles, folder: &str, items: Vec<Item>) {
        for item in items {
            if is_test_only(item_attributes(&item)) {
                continue;
            }
            let Item::Mod(mut declaration) = item else {
                self.items.push(item);
                continue;
            };
            let name = declaration.ident.to_string();
            let content = declaration.content.take();
            let child_folder = format!("{folder}/{name}");
            let mut path = self.path.clone();
            path.push(name.clone());
            let mut child = Self::empty(path, self.file.clone(), Some(declaration));
            if let Some((_, items)) = content {
                child.is_inline = true;
                child.test_lines.clone_from(&self.test_lines);
                child.fill(files, &child_folder, items);
            } else {
                let candidates = [format!("{folder}/{name}.rs"), format!("{child_folder}/mod.rs")];
                let found = candidates.into_iter().find(|path| files.contains_key(path));
                child.file = found.unwrap_or_else(|| panic!("{}: module `{name}` has no file", self.file));
                child.read(files, &child_folder);
            }
            self.modules.insert(name, child);
        }
    }

    /// This module and all below it.
    pub fn with_descendants(&self) -> Vec<&Module> {
        let mut all = vec![self];
        all.extend(self.modules.values().flat_map(Self::with_descendants));
        all
    }
}

fn parse_file(path: &str, text: &str) -> syn::File {
    syn::parse_file(text).unwrap_or_else(|error| panic!("{path}:{}: {error}", error.span().start().line))
}
