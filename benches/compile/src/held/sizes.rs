//! Sizes of a test program by section and by crate, and of the libraries it is linked from. Read with the tools of binutils,
//! which come with the linker.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;
use std::{fs, io};

use anyhow::{Context, Result, bail};

use super::Figures;

/// Bytes by name.
pub(crate) struct Sizes {
    /// Sections of the program, and the whole file.
    pub(crate) sections: Figures,
    /// Code in the program by the crate that it is of.
    pub(crate) code: Figures,
    /// Library files by crate.
    pub(crate) libraries: Figures,
}

impl Sizes {
    /// Of a test program, with the libraries beside it.
    pub(super) fn of(program: &Path) -> Result<Self> {
        let mut sections = sections(&run("size", &["-A", "-d"], program)?);
        sections.insert("file".to_owned(), fs::metadata(program)?.len());
        let code = code(&run("nm", &["--defined-only", "--print-size", "--demangle", "--radix=d"], program)?);
        let libraries = libraries(program.parent().context("a program is in a directory")?)?;
        Ok(Self { sections, code, libraries })
    }

    /// The figures of at least `smallest` bytes, of libraries those of our own.
    pub(super) fn held(&self, smallest: u64) -> Figures {
        let named = [("section", &self.sections), ("code of", &self.code), ("library", &self.libraries)];
        let mut held = Figures::new();
        for (what, figures) in named {
            let of_ours = |name: &str| what != "library" || name.starts_with("evalsuite");
            let large = figures.iter().filter(|(name, bytes)| **bytes >= smallest && of_ours(name));
            held.extend(large.map(|(name, bytes)| (format!("{what} {name}"), *bytes)));
        }
        held
    }
}

fn run(tool: &str, arguments: &[&str], program: &Path) -> Result<String> {
    let output = Command::new(tool).args(arguments).arg(program).output();
    let output = output.with_context(|| format!("{tool} cannot be started (binutils)"))?;
    if !output.status.success() {
        bail!("{tool}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Lines of `size -A`: name, bytes, address.
fn sections(text: &str) -> Figures {
    let mut sections = Figures::new();
    for line in text.lines().filter(|line| line.starts_with('.')) {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(Ok(bytes))) = (words.next(), words.next().map(str::parse)) {
            sections.insert(name.to_owned(), bytes);
        }
    }
    sections
}

/// Lines of `nm`: address, bytes, kind, name.
fn code(text: &str) -> Figures {
    let mut code = Figures::new();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let (Some(_), Some(Ok(bytes)), Some(kind), Some(name)) =
            (words.next(), words.next().map(str::parse::<u64>), words.next(), words.next())
        else {
            continue;
        };
        if matches!(kind, "t" | "T" | "w" | "W") {
            *code.entry(crate_of(name).to_owned()).or_default() += bytes;
        }
    }
    code
}

/// The first crate that a name mentions: of `<alloc::vec::Vec<T> as …>::f` it is `alloc`.
fn crate_of(name: &str) -> &str {
    let start = name.trim_start_matches(['<', '&', '[', '(', '*']);
    let start = ["mut ", "dyn ", "const "].into_iter().fold(start, |start, word| start.trim_start_matches(word));
    let end = start.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    match end {
        Some(end) if start[end..].starts_with("::") => &start[..end],
        _ => "others",
    }
}

fn libraries(directory: &Path) -> Result<Figures> {
    let mut newest: BTreeMap<String, (SystemTime, u64)> = BTreeMap::new();
    for entry in fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()? {
        let file = entry.file_name().to_string_lossy().into_owned();
        if let Some((name, _)) = file.strip_suffix(".rlib").and_then(|name| name.strip_prefix("lib")?.rsplit_once('-'))
        {
            let metadata = entry.metadata()?;
            let found = (metadata.modified()?, metadata.len());
            // There may be builds of it with other features.
            let known = newest.entry(name.to_owned()).or_insert(found);
            *known = found.max(*known);
        }
    }
    Ok(newest.into_iter().map(|(name, (_, bytes))| (name, bytes)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read() {
        let text =
            "evals  :\nsection   size    addr\n.text  12795878  7792128\n.debug_str  38636199  0\nTotal  111582923\n";
        let expected = [(".debug_str".to_owned(), 38_636_199), (".text".to_owned(), 12_795_878)];
        assert_eq!(sections(text), expected.into());
    }

    #[test]
    fn code_is_summed_by_crate() {
        let text = "0000000000001000 0000000000000010 t <alloc::vec::Vec<T> as core::clone::Clone>::clone\n\
                    0000000000001010 0000000000000005 T alloc::fmt::format\n\
                    0000000000001020 0000000000000007 W <&mut tokio::Runtime>::new\n\
                    0000000000001030 0000000000000008 t main\n\
                    0000000000001040 0000000000000100 r core::NAMES\n";
        let expected = [("alloc", 15), ("others", 8), ("tokio", 7)].map(|(name, bytes)| (name.to_owned(), bytes));
        assert_eq!(code(text), expected.into());
    }
}
