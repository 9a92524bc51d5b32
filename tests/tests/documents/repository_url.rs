//! The address of the repository: `repository` in `Cargo.toml` defines it, and every other spelling follows.

use std::fs;
use std::path::Path;

/// What starts an address of this repository, under whichever owner.
const HOST: &str = "https://github.com/";

/// Last part of the address.
const NAME: &str = "evalsuite";

/// Files that programs write, with addresses of other projects.
const GENERATED: &[&str] = &["Cargo.lock", "package-lock.json"];

const LARGEST_FILE: u64 = 1 << 20;

/// The value of `repository` in the manifest of a workspace.
pub(crate) fn of_manifest(manifest: &str) -> Option<&str> {
    manifest.lines().find_map(|line| line.strip_prefix("repository = \"")?.strip_suffix('"'))
}

/// The text with every address of this repository replaced by `url`, and the lines in which another one was.
pub(crate) fn with_url(text: &str, url: &str) -> (String, Vec<usize>) {
    let (mut changed, mut lines, mut rest) = (String::new(), Vec::new(), text);
    while let Some(start) = rest.find(HOST) {
        let (before, address) = rest.split_at(start);
        changed.push_str(before);
        let length = length_of_address(address);
        match length {
            Some(length) => {
                if &address[..length] != url {
                    lines.push(changed.matches('\n').count() + 1);
                }
                changed.push_str(url);
            }
            None => changed.push_str(HOST),
        }
        rest = &address[length.unwrap_or(HOST.len())..];
    }
    changed.push_str(rest);
    (changed, lines)
}

/// How many bytes are the address of this repository: the host, an owner and the name. `address` starts with the host.
fn length_of_address(address: &str) -> Option<usize> {
    let owner = address[HOST.len()..].split_once('/')?.0;
    let is_owner = !owner.is_empty() && owner.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let rest = address[HOST.len() + owner.len() + 1..].strip_prefix(NAME)?;
    let is_whole = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    (is_owner && is_whole).then_some(HOST.len() + owner.len() + 1 + NAME.len())
}

/// Places below a folder that spell another address. With `update`, they are corrected instead.
pub(crate) fn other_spellings(root: &Path, folder: &str, url: &str, update: bool) -> Vec<String> {
    let mut problems = Vec::new();
    for entry in fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("cannot list {folder}: {error}")) {
        let entry = entry.unwrap_or_else(|error| panic!("cannot list {folder}: {error}"));
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let Ok(data) = entry.metadata() else { continue };
        if data.is_dir() {
            if !["target", ".git", "node_modules"].contains(&name.as_str()) {
                problems.extend(other_spellings(root, &path, url, update));
            }
            continue;
        }
        let is_text = data.is_file() && data.len() < LARGEST_FILE && !GENERATED.contains(&name.as_str());
        let Some(text) = is_text.then(|| fs::read_to_string(entry.path()).ok()).flatten() else { continue };
        let (changed, lines) = with_url(&text, url);
        if update && !lines.is_empty() {
            fs::write(entry.path(), changed).unwrap_or_else(|error| panic!("cannot write {path}: {error}"));
        } else {
            problems.extend(lines.iter().map(|line| format!("{path}:{line}: not the address `{url}`")));
        }
    }
    problems
}

#[test]
fn addresses_of_this_repository_are_replaced_under_any_owner() {
    // Not written as one text: this file is checked, too.
    let address = |owner: &str| format!("{HOST}{owner}/{NAME}");
    let text = format!(
        "a\n[b]({}/blob/main/x.md) {HOST}evalsuite/other\n{}-x {}.",
        address("old"),
        address("old"),
        address("new")
    );
    let expected = format!(
        "a\n[b]({}/blob/main/x.md) {HOST}evalsuite/other\n{}-x {}.",
        address("new"),
        address("old"),
        address("new")
    );
    assert_eq!(with_url(&text, &address("new")), (expected, vec![2]));
}
