//! The files of a suite that command lines name: whoever changes a script changes what its command does.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use evalsuite_schema::{Argument, Command, Hook, Hooks};

use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::sha256_of_source;

/// In place of the digest of a file that cannot be read.
pub(super) const UNREADABLE: &str = "unreadable";

/// SHA-256 of a file, whatever its line ends.
pub(super) fn digest_of(file: &Path) -> String {
    File::open(file).and_then(sha256_of_source).unwrap_or_else(|_| UNREADABLE.to_owned())
}

/// Adds the digests of the files that the words of a command line name, by word. They are looked for in these directories, in order. The files
/// of absolute paths differ between machines.
pub(crate) fn add_named_files(line: &str, directories: &[PathBuf], found: &mut BTreeMap<String, String>) {
    let is_between = |character: char| character.is_whitespace() || "'\"`;|&<>()=".contains(character);
    let names_file = |word: &&str| word.contains(['.', '/']) && Path::new(word).is_relative();
    for word in line.split(is_between).filter(names_file) {
        if let Some(file) = directories.iter().map(|directory| directory.join(word)).find(|file| file.is_file()) {
            found.insert(word.to_owned(), digest_of(&file));
        }
    }
}

/// The same for the commands of hooks.
pub(super) fn add_files_of_hooks(hooks: &Hooks, location: &SuiteLocation, found: &mut BTreeMap<String, String>) {
    let Hooks { before_all, before_each, after_each, after_all } = hooks;
    for hook in [before_all, before_each, after_each, after_all].into_iter().flatten() {
        let Hook { command: Some(command), cwd, .. } = hook else { continue };
        let cwd = cwd.as_ref().map(|cwd| location.resolve(cwd));
        let directories = cwd.into_iter().chain([location.suite_dir.clone(), location.package_root.clone()]);
        let directories: Vec<PathBuf> = directories.collect();
        match command {
            Command::Shell(line) => add_named_files(line, &directories, found),
            Command::Argv(arguments) => arguments.iter().for_each(|argument| match argument {
                Argument::Text(text) => add_named_files(text, &directories, found),
                Argument::Path(path) => {
                    found.insert(path.written.clone(), digest_of(&location.resolve(path)));
                }
            }),
        }
    }
}
