//! Where the cases of an eval file are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_loader::document;
use evalsuite_loader::document::{Data, Value};

use crate::error::ConvertError;
use crate::source;

/// A case where it is written.
#[derive(Debug)]
pub(super) struct CaseSource {
    /// A mapping.
    pub(super) value: Value,
    /// The file that it is in.
    pub(super) file: PathBuf,
    /// How reports name it.
    pub(super) name: String,
    /// Whether the file is a `case.yaml`.
    pub(super) is_own_file: bool,
}

impl CaseSource {
    /// The id: that of a case directory is the name of the directory, unless the case has one.
    pub(super) fn id(&self) -> String {
        let written = self.value.get("id").and_then(Value::as_text);
        let directory = || self.file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        written.map(str::to_owned).or_else(directory).unwrap_or_default()
    }
}

/// All cases in order. `tests` is the value of that key; without it they are in `cases/`, or without an eval file in `root`.
pub(super) fn case_sources(
    root: &Path,
    has_file: bool,
    tests: Option<&Value>,
) -> Result<Vec<CaseSource>, ConvertError> {
    let mut found = Vec::new();
    match tests {
        None if has_file => directories(&root.join("cases"), root, &mut found)?,
        None => directories(root, root, &mut found)?,
        Some(tests) => match (&tests.data, tests.as_text()) {
            (Data::List(items), _) => {
                for (index, item) in items.iter().enumerate() {
                    match item.as_text() {
                        Some(text) => file_entry(text, root, &mut found)?,
                        None => found.push(CaseSource {
                            value: item.clone(),
                            file: root.join("EVAL.yaml"),
                            name: format!("tests[{index}]"),
                            is_own_file: false,
                        }),
                    }
                }
            }
            (_, Some(text)) => {
                let path = root.join(text.trim());
                if path.is_dir() { directories(&path, root, &mut found)? } else { list(&path, root, &mut found)? }
            }
            _ => return Err(ConvertError::unsupported("`tests` is neither a list nor a path")),
        },
    }
    Ok(found)
}

fn file_entry(text: &str, root: &Path, found: &mut Vec<CaseSource>) -> Result<(), ConvertError> {
    let Some(path) = text.trim().strip_prefix("file://") else {
        return Err(ConvertError::unsupported(format!("`{text}` in `tests` is not a case")));
    };
    if !evalsuite_discovery::is_glob(path) {
        return list(&root.join(path), root, found);
    }
    let listing = evalsuite_discovery::list(root, root, "glob", path);
    listing.files.iter().try_for_each(|file| list(&root.join(file), root, found))
}

/// The case directories below `directory`.
fn directories(directory: &Path, root: &Path, found: &mut Vec<CaseSource>) -> Result<(), ConvertError> {
    let listing = fs::read_dir(directory).map_err(|error| ConvertError::io(directory, error))?;
    let mut names = BTreeSet::new();
    for entry in listing {
        let entry = entry.map_err(|error| ConvertError::io(directory, error))?;
        names.insert(entry.file_name());
    }
    for name in names {
        let is_ignored = name.to_string_lossy().starts_with(['.', '_']);
        let files = ["case.yaml", "case.yml"].map(|file| directory.join(&name).join(file));
        let Some(file) = files.into_iter().find(|file| !is_ignored && file.is_file()) else { continue };
        let mut document = source::document(&file, root)?;
        // Comments after the last entry stay with the case.
        if let Data::Mapping(entries) = &mut document.root.data
            && let Some((_, first)) = entries.first_mut()
        {
            first.above.splice(0..0, document.end);
        }
        found.push(CaseSource {
            value: document.root,
            file,
            name: name.to_string_lossy().into_owned(),
            is_own_file: true,
        });
    }
    Ok(())
}

/// The cases of a YAML list or of the lines of a JSONL file.
fn list(file: &Path, root: &Path, found: &mut Vec<CaseSource>) -> Result<(), ConvertError> {
    let is_lines = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"));
    let values = if is_lines {
        let text = source::text(file)?;
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let case = |(line, number): (&str, u32)| {
            let parsed = document::parse(line, &file.with_extension("json")).map_err(ConvertError::unreadable)?;
            let mut value = parsed.root;
            value.position.line = number;
            Ok(value)
        };
        lines.map(case).collect::<Result<Vec<_>, ConvertError>>()?
    } else {
        let document = source::document(file, root)?;
        match document.root.data {
            Data::List(items) => items,
            _ => {
                return Err(ConvertError::unsupported(format!("{} is not a list of cases", source::shown(file, root))));
            }
        }
    };
    for (index, value) in values.into_iter().enumerate() {
        found.push(CaseSource { value, file: file.to_owned(), name: format!("[{index}]"), is_own_file: false });
    }
    Ok(())
}
