//! The answer in the form for judges: its text with the text of its files, and its images.

use std::path::Path;

use evalsuite_schema::grader::Preprocessor;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::media_type::of_extension;
use evalsuite_schema::{Content, Part, PathRef};

use crate::model::answer_files::AnswerFiles;
use crate::model::evidence::Evidence;
use crate::model::judge::JudgeImage;
use crate::model::messages::answer_content;
use crate::platform::excerpt::trim;
use crate::platform::untrusted::OpenError;

/// Largest file that is shown to a judge as text, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Largest image that is shown to a judge, in bytes.
const LARGEST_IMAGE: u64 = 20 * 1024 * 1024;

/// Media type of a file whose extension is unknown.
const UNKNOWN_MEDIA_TYPE: &str = "application/octet-stream";

/// The answer of a trial as judges are shown it.
#[derive(Debug, Default)]
pub(crate) struct ShownAnswer {
    pub(crate) text: String,
    pub(crate) images: Vec<JudgeImage>,
}

/// The answer of a trial with its files as text, each where the agent put it. `preprocess` runs a preprocessor on a file: it
/// gets the name of the file and the input of the command, and returns the command's output.
pub(crate) fn shown_answer(
    preprocessors: &[Preprocessor],
    evidence: &Evidence<'_>,
    mut preprocess: impl FnMut(&Preprocessor, &str, &Value) -> Result<String, String>,
) -> Result<ShownAnswer, String> {
    let (parts, files) = (answer_parts(evidence), &evidence.facts().files);
    let mut images = Vec::new();
    let mut texts = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text.clone()),
            Part::Image { file, media_type } => {
                let path = files.path(file);
                let bytes = files.read(file, LARGEST_IMAGE).map_err(|error| {
                    format!("the image `{}` of the answer {error} ({})", file.written, path.display())
                })?;
                images.push(JudgeImage { media_type: media_type.clone(), path, bytes: bytes.into() });
            }
            other => {
                let Some(file) = other.file() else { continue };
                let path = files.path(file);
                let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
                let text = match preprocessors.iter().find(|preprocessor| takes(&preprocessor.media_type, &extension)) {
                    Some(preprocessor) => {
                        files.check(file).map_err(|error| unreadable(file, &path, &error))?;
                        preprocess(preprocessor, &file.path, &command_input(file, &path, &extension))?
                    }
                    None => match (text_of(files, file, &path)?, other.media_type()) {
                        (Some(text), _) => text,
                        // A judge takes no sound and no documents: what is not text is named.
                        (None, Some(media_type)) => format!("({media_type}, not shown)"),
                        (None, None) => return Err(binary(file, &extension)),
                    },
                };
                let written = if file.written.is_empty() { &file.path } else { &file.written };
                texts.push(format!("[[ file: {written} ]]\n{text}"));
            }
        }
    }
    let text = if parts.is_empty() { evidence.answer().to_owned() } else { texts.join("\n") };
    Ok(ShownAnswer { text: trim(&text).to_owned(), images })
}

/// Parts of the message that is the answer; none if only a text is left of it.
fn answer_parts<'a>(evidence: &'a Evidence<'_>) -> &'a [Part] {
    if evidence.is_transformed() {
        return &[];
    }
    match answer_content(evidence.transcript().unwrap_or_default()) {
        Some(Content::Parts(parts)) => parts,
        _ => &[],
    }
}

fn unreadable(file: &PathRef, path: &Path, error: &OpenError) -> String {
    let (name, path) = (&file.path, path.display());
    match error {
        OpenError::TooLarge { bytes, limit } => format!(
            "the file `{name}` of the answer has {bytes} bytes, more than the {limit} a judge is shown ({path})"
        ),
        error => format!("the file `{name}` of the answer {error} ({path})"),
    }
}

fn binary(file: &PathRef, extension: &str) -> String {
    let media_type = if extension.is_empty() { UNKNOWN_MEDIA_TYPE } else { extension };
    format!(
        "the file `{}` of the answer is binary, and no preprocessor takes files of its type\n\
         help: add `preprocessors: [{{ type: {media_type}, command: […] }}]`",
        file.path
    )
}

/// The text of a file; `None` if it is binary.
fn text_of(files: &AnswerFiles, file: &PathRef, path: &Path) -> Result<Option<String>, String> {
    let bytes = files.read(file, LARGEST).map_err(|error| unreadable(file, path, &error))?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    Ok(text.map(|text| text.replace("\r\n", "\n")))
}

/// What a preprocessor reads on its standard input.
fn command_input(file: &PathRef, path: &Path, extension: &str) -> Value {
    json!({
        "path": path.display().to_string(),
        "original_path": file.path,
        "media_type": of_extension(extension).unwrap_or(UNKNOWN_MEDIA_TYPE),
    })
}

/// Whether a preprocessor written for a media type or an extension takes files with this extension.
fn takes(written: &str, extension: &str) -> bool {
    let written = written.trim().to_lowercase();
    let wanted = written.trim_start_matches('.');
    let own = of_extension(extension);
    own.is_some() && own == of_extension(wanted).or(Some(wanted)) || !extension.is_empty() && wanted == extension
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
