//! Records of the JSONL files: what a reference implementation did with some files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use evalsuite_schema::Value;

/// One recorded load.
#[derive(Debug, Clone)]
pub struct Record {
    /// `<kind>-NNN`.
    pub id: String,
    /// The suite file, relative to the record's root.
    pub eval: Option<String>,
    /// Values of the environment variables that are set; all others are unset.
    pub env: BTreeMap<String, String>,
    /// The whole record.
    pub json: Value,
}

/// The files of a record on disk; the directory is removed on drop.
#[derive(Debug)]
pub struct Materialised {
    /// The directory that `{ROOT}` is replaced by, with links resolved.
    pub root: PathBuf,
    _keep: tempfile::TempDir,
}

/// An unparsed line of a file of records: most test processes need only one of many.
#[derive(Debug, Clone)]
pub struct Line {
    /// The record's id.
    pub id: String,
    text: String,
    place: String,
}

/// The lines of a file of records.
pub fn lines(path: &Path) -> Result<Vec<Line>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let place = format!("{}:{}", path.display(), index + 1);
            let id = line.split_once("\"id\":").and_then(|(_, rest)| rest.split('"').nth(1));
            let id = id.ok_or_else(|| format!("{place}: no id"))?.to_owned();
            Ok(Line { id, text: line.to_owned(), place })
        })
        .collect()
}

impl Line {
    /// Whether the text of the record contains `part`.
    pub fn contains(&self, part: &str) -> bool {
        self.text.contains(part)
    }

    /// The kind: the id without its number.
    pub fn kind(&self) -> &str {
        kind(&self.id)
    }

    /// Parses the record.
    pub fn record(&self) -> Result<Record, String> {
        parse(&self.text).map_err(|error| format!("{}: {error}", self.place))
    }
}

fn kind(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(kind, _)| kind)
}

fn parse(line: &str) -> Result<Record, String> {
    let json: Value = evalsuite_schema::json::from_str(line).map_err(|error| error.to_string())?;
    let id = json["id"].as_str().ok_or("no id")?.to_owned();
    let env = json["env"].as_object().into_iter().flatten();
    let env = env.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect();
    Ok(Record { id, eval: json["eval"].as_str().map(str::to_owned), env, json })
}

impl Record {
    /// The kind: the id without its number.
    pub fn kind(&self) -> &str {
        kind(&self.id)
    }

    /// What the reference implementation did.
    pub fn expected(&self) -> &Value {
        &self.json["expected"]
    }

    /// The text files, with `{ROOT}` unreplaced.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.json["files"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(path, text)| Some((path.as_str(), text.as_str()?)))
    }

    /// Link paths and their targets.
    pub fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        let links = self.json["symlinks"].as_object().into_iter().flatten();
        links.filter_map(|(path, target)| Some((path.as_str(), target.as_str()?)))
    }

    /// Writes the files of the record into a new directory. Its name is always the same, because suites may be named after it.
    pub fn materialise(&self) -> Result<Materialised, String> {
        let keep = tempfile::tempdir().map_err(|error| error.to_string())?;
        let base = keep.path().canonicalize().map_err(|error| error.to_string())?;
        let root = base.join("record");
        self.write(&root).map_err(|error| format!("cannot write the files of the record: {error}"))?;
        Ok(Materialised { root, _keep: keep })
    }

    fn write(&self, root: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(root.join(".git"))?;
        let shown = root.to_string_lossy().into_owned();
        for (path, content) in self.json["files"].as_object().into_iter().flatten() {
            let place = root.join(path);
            if path.ends_with('/') {
                std::fs::create_dir_all(place)?;
                continue;
            }
            std::fs::create_dir_all(place.parent().unwrap_or(root))?;
            std::fs::write(place, bytes(content, &shown)?)?;
        }
        for (path, target) in self.links() {
            let place = root.join(path);
            std::fs::create_dir_all(place.parent().unwrap_or(root))?;
            link(&target.replace("{ROOT}", &shown), &place)?;
        }
        for (path, mode) in self.json["modes"].as_object().into_iter().flatten() {
            set_mode(&root.join(path), mode.as_str().unwrap_or_default())?;
        }
        Ok(())
    }
}

fn bytes(content: &Value, root: &str) -> std::io::Result<Vec<u8>> {
    if let Some(text) = content.as_str() {
        return Ok(text.replace("{ROOT}", root).into_bytes());
    }
    let text = content["base64"].as_str().ok_or_else(|| std::io::Error::other("a file without content"))?;
    base64::engine::general_purpose::STANDARD.decode(text).map_err(|error| std::io::Error::other(error.to_string()))
}

#[cfg(unix)]
fn link(target: &str, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(windows)]
fn link(target: &str, place: &Path) -> std::io::Result<()> {
    let is_dir = place.parent().is_some_and(|parent| parent.join(target).is_dir());
    if is_dir {
        std::os::windows::fs::symlink_dir(target, place)
    } else {
        std::os::windows::fs::symlink_file(target, place)
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: &str) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = u32::from_str_radix(mode, 8).map_err(std::io::Error::other)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(windows)]
fn set_mode(_path: &Path, _mode: &str) -> std::io::Result<()> {
    Ok(())
}
