//! Where the cases of an eval file are.

use std::path::{Path, PathBuf};

use evalsuite_discovery::CASE_FILES;
use evalsuite_loader::document::{self, Data, Value};

use crate::error::ConvertError;
use crate::report::Place;
use crate::source::{self, SourceFiles};

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

/// Cases, or why they cannot be read.
type Found = Result<Vec<CaseSource>, ConvertError>;

impl CaseSource {
    /// The id: that of a case directory is the name of the directory, unless the case has one.
    pub(super) fn id(&self) -> String {
        let written = self.value.get("id").and_then(Value::as_text);
        let directory = || self.file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        written.map(str::to_owned).or_else(directory).unwrap_or_default()
    }
}

/// All cases in order. `tests` is the value of that key; without it they are in `cases/`, or without an eval file in `root`.
pub(super) fn case_sources(files: &SourceFiles, has_file: bool, tests: Option<&Value>, place: &Place) -> Found {
    let root = files.root();
    match tests {
        None if has_file => directories(&root.join("cases"), "cases", place, files),
        None => directories(root, ".", place, files),
        Some(tests) => match (&tests.data, tests.as_text()) {
            (Data::List(_), _) => {
                let mut found = Vec::new();
                for (item, place) in place.items(tests) {
                    if let Some(text) = item.as_text() {
                        found.extend(file_entry(text, &place, files)?);
                    } else {
                        let (file, name) = (root.join("EVAL.yaml"), place.name);
                        found.push(CaseSource { value: item.clone(), file, name, is_own_file: false });
                    }
                }
                Ok(found)
            }
            (_, Some(text)) => {
                let path = root.join(text.trim());
                let read = if path.is_dir() { directories } else { list };
                read(&path, text, place, files)
            }
            _ => Err(ConvertError::unsupported("`tests` is neither a list nor a path")),
        },
    }
}

fn file_entry(text: &str, place: &Place, files: &SourceFiles) -> Found {
    let Some(path) = text.trim().strip_prefix("file://") else {
        return Err(ConvertError::unsupported(format!("`{text}` in `tests` is not a case")));
    };
    if !evalsuite_discovery::is_glob(path) {
        return list(&files.root().join(path), text, place, files);
    }
    let mut found = Vec::new();
    for file in files.matching(path, files.root(), text, place).map_err(ConvertError::unsupported)? {
        found.extend(list(&file, text, place, files)?);
    }
    Ok(found)
}

/// The case directories below `directory`, which `reference` at `place` names.
fn directories(directory: &Path, reference: &str, place: &Place, files: &SourceFiles) -> Found {
    files.allows(directory, reference, place);
    let mut found = Vec::new();
    for path in source::sorted_entries(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_ignored = name.starts_with(['.', '_']);
        let named = CASE_FILES.map(|file| path.join(file));
        let Some(file) = named.into_iter().find(|file| !is_ignored && file.is_file()) else { continue };
        let shown = files.shown(&file);
        let mut document = files.document(&file, &shown, &Place::new(shown.clone(), 0, ""))?;
        // Comments after the last entry stay with the case.
        if let Data::Mapping(entries) = &mut document.root.data
            && let Some((_, first)) = entries.first_mut()
        {
            first.above.splice(0..0, document.end);
        }
        found.push(CaseSource { value: document.root, file, name, is_own_file: true });
    }
    Ok(found)
}

/// The cases of a YAML list or of the lines of a JSONL file, which `reference` at `place` names.
fn list(file: &Path, reference: &str, place: &Place, files: &SourceFiles) -> Found {
    let is_lines = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"));
    let values = if is_lines {
        let text = files.text(file, reference, place)?;
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let case = |(line, number): (&str, u32)| {
            let parsed = document::parse(line, &file.with_extension("json")).map_err(ConvertError::unreadable)?;
            let mut value = parsed.root;
            value.position.line = number;
            Ok(value)
        };
        lines.map(case).collect::<Result<Vec<_>, ConvertError>>()?
    } else {
        let document = files.document(file, reference, place)?;
        match document.root.data {
            Data::List(items) => items,
            _ => return Err(ConvertError::unsupported(format!("{} is not a list of cases", files.shown(file)))),
        }
    };
    let case = |(index, value)| {
        let (file, name) = (file.to_owned(), format!("[{index}]"));
        CaseSource { value, file, name, is_own_file: false }
    };
    Ok(values.into_iter().enumerate().map(case).collect())
}
