//! The answer as a judge sees it: its text, and the files that came with it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use evalsuite_schema::{
    Content, Part, PathRef, Role,
    grader::{PreparedCommand, Preprocessor},
};
use serde_json::json;

use crate::{
    grade::{Context, code_grader},
    model::judge::JudgeImage,
    platform::excerpt::{last_chars, trim},
};

/// Limit of a preprocessor.
const LIMIT: Duration = Duration::from_secs(60);
/// Bytes of a file that is shown to a judge.
const LARGEST: u64 = 1024 * 1024;
/// Characters of a broken command's output that are shown.
const SHOWN: usize = 2000;

/// Media types of file extensions that preprocessors are written for.
const MEDIA_TYPES: [(&str, &str); 19] = [
    ("csv", "text/csv"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("json", "application/json"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("sql", "application/sql"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) images: Vec<JudgeImage>,
}

/// The answer with its files as text, each where the agent put it.
///
/// # Errors
///
/// If a file cannot be read, or a preprocessor fails.
pub(crate) fn show(preprocessors: &[Preprocessor], context: &Context<'_>) -> Result<Shown, String> {
    let parts = parts(context);
    let mut images = Vec::new();
    let mut texts = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text.clone()),
            Part::Image { file, media_type } => {
                let path = place(file, context);
                if !path.is_file() {
                    return Err(format!(
                        "the image `{}` of the answer does not exist ({})",
                        file.written,
                        path.display()
                    ));
                }
                images.push(JudgeImage { media_type: media_type.clone(), path });
            }
            Part::File(file) => {
                let text = file_text(file, preprocessors, context)?;
                let written = if file.written.is_empty() { &file.path } else { &file.written };
                texts.push(format!("[[ file: {written} ]]\n{text}"));
            }
        }
    }
    let text = if parts.is_empty() { context.evidence.answer().to_owned() } else { texts.join("\n") };
    Ok(Shown { text: trim(&text).to_owned(), images })
}

/// Parts of the message that is the answer.
fn parts<'a>(context: &'a Context<'_>) -> &'a [Part] {
    let transcript = context.evidence.transcript().unwrap_or_default();
    let mut spoken = transcript.iter().rev().filter(|message| message.role == Role::Assistant);
    match spoken.find_map(|message| message.content.as_ref()) {
        Some(Content::Parts(parts)) => parts,
        _ => &[],
    }
}

/// A file that an agent names lies in its workspace, unless the path is absolute.
fn place(file: &PathRef, context: &Context<'_>) -> PathBuf {
    let own = context.evidence.workspace().join(&file.path);
    if own.exists() { own } else { context.places.resolve(file) }
}

fn file_text(file: &PathRef, preprocessors: &[Preprocessor], context: &Context<'_>) -> Result<String, String> {
    let path = place(file, context);
    let name = &file.path;
    let length = fs::metadata(&path)
        .map_err(|error| format!("the file `{name}` of the answer cannot be read ({}): {error}", path.display()))?
        .len();
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let media_type = media_type(&extension);
    let fits = |preprocessor: &&Preprocessor| takes(&preprocessor.media_type, &extension);
    if let Some(preprocessor) = preprocessors.iter().find(fits) {
        return preprocess(preprocessor, &path, name, media_type, context);
    }
    if length > LARGEST {
        return Err(format!(
            "the file `{name}` of the answer has {length} bytes, more than the {LARGEST} a judge is shown"
        ));
    }
    let bytes = fs::read(&path).map_err(|error| format!("the file `{name}` of the answer cannot be read: {error}"))?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text.replace("\r\n", "\n")),
        _ => Err(format!(
            "the file `{name}` of the answer is binary, and no preprocessor takes files of its type\n\
             help: add `preprocessors: [{{ type: {}, command: […] }}]`",
            if extension.is_empty() { "application/octet-stream" } else { &extension }
        )),
    }
}

/// Whether a preprocessor written for a media type or an extension takes files with this extension.
fn takes(written: &str, extension: &str) -> bool {
    let written = written.trim().to_lowercase();
    let wanted = written.trim_start_matches('.');
    let own = media_type(extension);
    own.is_some() && own == media_type(wanted).or(Some(wanted)) || !extension.is_empty() && wanted == extension
}

/// The media type that preprocessors are written for, of an extension.
fn media_type(extension: &str) -> Option<&'static str> {
    MEDIA_TYPES.iter().find(|(known, _)| *known == extension).map(|(_, media_type)| *media_type)
}

fn preprocess(
    preprocessor: &Preprocessor,
    path: &Path,
    name: &str,
    media_type: Option<&str>,
    context: &Context<'_>,
) -> Result<String, String> {
    let input = json!({
        "path": path.display().to_string(),
        "original_path": name,
        "media_type": media_type.unwrap_or("application/octet-stream"),
    });
    let prepared = PreparedCommand { command: preprocessor.command.clone(), cwd: None };
    let failed = |problem: String| format!("the preprocessor of `{name}` failed: {problem}");
    let finished = code_grader::execute(&prepared, &input, LIMIT, context).map_err(failed)?;
    if finished.timed_out {
        return Err(failed(format!("it did not end within {} s", LIMIT.as_secs())));
    }
    if !finished.status.success() {
        let stderr = finished.stderr.text();
        return Err(failed(format!("{}: {}", finished.status, last_chars(trim(&stderr), SHOWN))));
    }
    Ok(trim(&finished.stdout.text()).to_owned())
}

#[cfg(test)]
mod tests {
    use super::takes;

    #[test]
    fn preprocessors_are_written_for_media_types_or_extensions() {
        for (written, extension) in [
            ("text/csv", "csv"),
            (" CSV ", "csv"),
            (".csv", "csv"),
            ("markdown", "md"),
            ("htm", "html"),
            ("yaml", "yml"),
            ("unknown", "unknown"),
        ] {
            assert!(takes(written, extension), "{written} {extension}");
        }
        for (written, extension) in [("text/csv", "txt"), ("csv", ""), ("text/x", "unknown"), ("", "")] {
            assert!(!takes(written, extension), "{written} {extension}");
        }
    }
}
