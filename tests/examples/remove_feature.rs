//! Shows that features are in one place: removes each from a copy of the source tree, and builds what is left.
//!
//! ```text
//! cargo run -p evalsuite-tests --example remove_feature            # all of the table
//! cargo run -p evalsuite-tests --example remove_feature watch lsp
//! ```
//!
//! The table of features in ARCHITECTURE.md names the folders and files of each, and where it is registered. Those are deleted: the folders,
//! and in other files the lines of each registration with the attributes and documentation above it. Then the libraries and programs of
//! the workspace are checked with all their features, but for the campaign, which attacks all of them at once, and the tests of formats and
//! grading, which know every grader. Prints how many lines outside of its folders had to go, and how many conditions for a cargo feature stay
//! without effect. Fails if the rest does not build, more than ten lines had to go, or a registration is not found.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use evalsuite_tests::source::workspace_root;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Most lines outside of the folders of a feature.
const MOST_LINES: usize = 10;

/// A row of the table.
struct Feature {
    name: String,
    /// Features that need this one, and are removed with it.
    dependents: Vec<String>,
    folders: Vec<PathBuf>,
    registrations: Vec<Registration>,
}

/// A text in a file outside of the folders, and with it the lines that belong to it.
struct Registration {
    file: PathBuf,
    text: String,
    /// The name that leaves a list, whose line stays: `FILE: use NAME` of imports, `FILE: "NAME"` of features.
    listed: Option<String>,
}

fn main() -> Result<ExitCode> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let root = workspace_root();
    let features = features(&fs::read_to_string(root.join("ARCHITECTURE.md"))?)?;
    if let Some(unknown) = wanted.iter().find(|name| features.iter().all(|feature| feature.name != **name)) {
        return Err(format!("`{unknown}` is not in the table of features").into());
    }
    let tree = root.join("target/without-feature/tree");
    let mut all_build = true;
    for feature in features.iter().filter(|feature| wanted.is_empty() || wanted.contains(&feature.name)) {
        restore(root, &tree)?;
        for dependent in features.iter().filter(|other| feature.dependents.contains(&other.name)) {
            dependent.remove(&tree)?;
        }
        let (inside, outside) = feature.remove(&tree)?;
        let conditions = feature.conditions(&tree)?;
        let problems = problems(&tree, &root.join("target/without-feature/target"))?;
        let is_good = problems.is_empty() && outside <= MOST_LINES;
        all_build &= is_good;
        let verdict = if is_good { "ok" } else { "NOT in one place" };
        let name = &feature.name;
        println!("{name:<16} {inside:>6} lines inside, {outside:>3} outside, {conditions:>2} conditions: {verdict}");
        print!("{problems}");
    }
    Ok(if all_build { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The rows of the table below the heading `Features`.
fn features(document: &str) -> Result<Vec<Feature>> {
    let (_, section) = document.split_once("\n## Features\n").ok_or("ARCHITECTURE.md has no section `Features`")?;
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    rows.take_while(|line| line.starts_with('|')).map(feature).collect()
}

fn feature(row: &str) -> Result<Feature> {
    let cells: Vec<Vec<&str>> = row.split('|').map(|cell| cell.split('`').skip(1).step_by(2).collect()).collect();
    let [_, names, folders, registrations, ..] = cells.as_slice() else { return Err(row.into()) };
    let (name, dependents) = names.split_first().ok_or(row)?;
    let registration = |written: &&str| {
        let (file, text) = written.split_once(": ").ok_or_else(|| format!("`{written}` is not `FILE: TEXT`"))?;
        let name = text.strip_prefix("use ").filter(|name| !name.ends_with(';'));
        let listed = name.or(Some(text).filter(|text| text.starts_with('"'))).map(str::to_owned);
        Ok(Registration { file: file.into(), text: name.unwrap_or(text).to_owned(), listed })
    };
    Ok(Feature {
        name: (*name).to_owned(),
        dependents: dependents.iter().map(|name| (*name).to_owned()).collect(),
        folders: folders.iter().map(PathBuf::from).collect(),
        registrations: registrations.iter().map(registration).collect::<Result<_>>()?,
    })
}

impl Feature {
    /// Deletes its folders and registrations. Returns the numbers of lines in the folders and outside of them.
    fn remove(&self, tree: &Path) -> Result<(usize, usize)> {
        let inside = self.folders.iter().map(|folder| lines_below(&tree.join(folder))).sum::<Result<usize>>()?;
        for folder in &self.folders {
            let path = tree.join(folder);
            if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
        }
        let outside = self.registrations.iter().map(|it| it.remove(tree)).sum::<Result<usize>>()?;
        Ok((inside, outside))
    }

    /// Number of lines that ask for the cargo features that registered it.
    fn conditions(&self, tree: &Path) -> Result<usize> {
        let names = self.registrations.iter().filter_map(|it| it.text.strip_suffix(" = ["));
        let texts: Vec<String> = names.map(|name| format!("feature = \"{name}\"")).collect();
        let is_one = |line: &str| texts.iter().any(|text| line.contains(text));
        let sources = ["cli/src", "runtime/src"].map(|folder| matching_lines(&tree.join(folder), &is_one));
        sources.into_iter().sum()
    }
}

impl Registration {
    /// Deletes every line with the text, what its brackets contain, and the attributes and documentation above it. Returns how many lines.
    fn remove(&self, tree: &Path) -> Result<usize> {
        let path = tree.join(&self.file);
        let code = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", self.file.display()))?;
        let mut kept: Vec<String> = Vec::new();
        let mut lines = code.lines();
        let mut removed = 0;
        while let Some(line) = lines.next() {
            let is_list = ["use ", "= [", "= &["].iter().any(|start| line.contains(start));
            if !line.contains(&self.text) || (self.listed.is_some() && !is_list) {
                kept.push(line.to_owned());
                continue;
            }
            removed += 1;
            if let Some(name) = &self.listed {
                kept.push(without(line, name));
                continue;
            }
            let mut depth = opened(line);
            while depth > 0 || lines.clone().next().is_some_and(|next| next.trim_start().starts_with('.')) {
                let next =
                    lines.next().ok_or_else(|| format!("{}: `{}` does not end", self.file.display(), self.text))?;
                depth += opened(next);
                removed += 1;
            }
            while kept.last().is_some_and(|above| is_part_of_next(above)) {
                kept.pop();
                removed += 1;
            }
        }
        if removed == 0 {
            return Err(format!("{} has no line with `{}`", self.file.display(), self.text).into());
        }
        fs::write(&path, kept.join("\n") + "\n")?;
        Ok(removed)
    }
}

/// A line with a list, without one of its names.
fn without(line: &str, name: &str) -> String {
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let place = line.match_indices(name).find(|(at, _)| is_end(&line[at + name.len()..]));
    let Some((start, _)) = place else { return line.to_owned() };
    let (before, after) = (&line[..start], &line[start + name.len()..]);
    match after.strip_prefix(", ") {
        Some(after) => format!("{before}{after}"),
        None => format!("{}{after}", before.strip_suffix(", ").unwrap_or(before)),
    }
}

/// Whether a line is an attribute, documentation or the start of the statement that the next line ends.
fn is_part_of_next(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#[") || line.starts_with("///") || line.ends_with(" =")
}

/// How many more brackets a line opens than it closes.
fn opened(line: &str) -> i32 {
    let brackets = |all: &str| line.chars().filter(|character| all.contains(*character)).count() as i32;
    brackets("([{") - brackets(")]}")
}

fn lines_below(path: &Path) -> Result<usize> {
    matching_lines(path, &|_| true)
}

/// Number of lines in a file, or in the files of a folder, that are wanted.
fn matching_lines(path: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<usize> {
    if path.is_file() {
        return Ok(fs::read_to_string(path).map_or(0, |text| text.lines().filter(|line| is_wanted(line)).count()));
    }
    let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    entries.map(|entry| matching_lines(&entry?.path(), is_wanted)).sum()
}

/// Makes `tree` equal to the source tree. Files that are equal keep their times, so that cargo builds only what has changed.
fn restore(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let skipped = |name: &str| name == "target" || name == ".git";
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        let path = entry.path();
        if !from.join(entry.file_name()).exists() {
            if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let (source, copy) = (entry.path(), to.join(&name));
        if skipped(&name.to_string_lossy()) || (source.is_dir() && source.is_symlink()) {
            continue;
        }
        if source.is_dir() {
            restore(&source, &copy)?;
        } else if fs::read(&copy).ok() != Some(fs::read(&source)?) {
            fs::copy(&source, &copy)?;
        }
    }
    Ok(())
}

/// What rustc says about the libraries and programs of the workspace; empty if they build.
fn problems(tree: &Path, target: &Path) -> Result<String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args([
        "check",
        "--quiet",
        "--workspace",
        "--exclude",
        "evalsuite-campaign",
        "--exclude",
        "evalsuite-conformance",
        "--exclude",
        "evalsuite-grading-tests",
        "--all-features",
        "--lib",
        "--bins",
    ]);
    cargo.args(["--message-format", "short"]);
    let output = cargo.current_dir(tree).env("CARGO_TARGET_DIR", target).output()?;
    if output.status.success() {
        return Ok(String::new());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<String> =
        text.lines().filter(|line| line.contains("error")).map(|line| format!("    {line}\n")).collect();
    Ok(errors.concat())
}
