//! Task files below a directory.

use crate::listing::{Search, join};

pub(crate) fn list(search: &mut Search<'_>, path: &str, depth: usize) {
    if search.is_too_deep(path, depth) {
        return;
    }
    let mut directories = Vec::new();
    let mut holds_task = false;
    for (name, kind) in search.entries(path) {
        let entry = join(path, &name);
        let linked = kind.is_symlink();
        let Some(kind) = search.resolve(&entry, kind) else {
            // It was meant to be a task: the directory next to it is still its template.
            holds_task |= is_task(&name);
            continue;
        };
        if kind.is_dir() {
            if !linked || search.may_follow(&entry) {
                directories.push((name, entry));
            }
        } else if is_task(&name) {
            // Anything else with such a name (a FIFO, a socket) is listed too: the reader reports what it is.
            holds_task = true;
            search.found.files.push(entry);
        }
    }
    for (name, directory) in directories {
        // The template of the tasks next to it, not a folder of tasks.
        if name != "workspace" || !holds_task {
            list(search, &directory, depth + 1);
        }
    }
}

fn is_task(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() >= 5 && bytes[bytes.len() - 5..].eq_ignore_ascii_case(b".json")
}
