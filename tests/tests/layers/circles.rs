//! Files and folders next to each other that import from each other in a circle.

use std::collections::{BTreeMap, VecDeque};

use evalsuite_tests::source::{CrateSource, Module};

use super::order::{Target, below, own_names, target};
use super::references::references;

/// The imports between the modules of a folder: where each one imports from which other, by both.
type Imports<'m> = BTreeMap<&'m str, BTreeMap<String, String>>;

/// A shortest circle of each module that is in one: its modules, and the line of each import. What a folder's root file defines is left
/// out.
pub(crate) fn circles(krate: &CrateSource) -> Vec<(Vec<String>, String)> {
    let aliases = own_names(&krate.root.items);
    let mut found = Vec::new();
    for folder in krate.root.with_descendants() {
        let imports = imports(folder, &aliases);
        for start in imports.keys() {
            let Some(circle) = shortest_circle(&imports, start) else { continue };
            // A circle is reported once, from its first module.
            if circle.iter().all(|module| *start <= module.as_str()) {
                let lines = circle.iter().zip(circle.iter().cycle().skip(1));
                let lines: Vec<&str> = lines.map(|(from, to)| imports[from.as_str()][to].as_str()).collect();
                let lines = lines.join("; ");
                found.push((circle, lines));
            }
        }
    }
    found
}

fn imports<'m>(folder: &'m Module, aliases: &[String]) -> Imports<'m> {
    let inside: Vec<&str> = folder.path.iter().map(String::as_str).collect();
    let mut imports = Imports::new();
    for (name, module) in folder.modules.iter().filter(|(_, module)| !module.is_inline) {
        let of_module = imports.entry(name.as_str()).or_default();
        for module in module.with_descendants() {
            for reference in references(module, aliases) {
                let Some(Target::Module(other, _)) = below(&reference.path, &inside).map(|path| target(folder, path))
                else {
                    continue;
                };
                if other != *name {
                    let line = || format!("{}:{} imports {}", module.file, reference.line, reference.path.join("::"));
                    of_module.entry(other).or_insert_with(line);
                }
            }
        }
    }
    imports
}

/// The modules from `start` along imports until one that imports `start`.
fn shortest_circle(imports: &Imports<'_>, start: &str) -> Option<Vec<String>> {
    let mut paths = VecDeque::from([vec![start.to_owned()]]);
    let mut seen = Vec::new();
    while let Some(path) = paths.pop_front() {
        for next in imports.get(path.last()?.as_str()).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                return Some(path);
            }
            if !seen.contains(next) {
                seen.push(next.clone());
                paths.push_back(path.iter().cloned().chain([next.clone()]).collect());
            }
        }
    }
    None
}
