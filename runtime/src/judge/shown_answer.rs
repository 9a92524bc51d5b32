//! The answer in the form for judges: its text with the text of its files, and its images.

use std::fmt;
use std::path::{Path, PathBuf};

use evalsuite_schema::grader::Preprocessor;
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::media_type::of_extension;
use evalsuite_schema::{Content, Part, PathRef, Role};

use crate::model::answer_files::AnswerFiles;
use crate::model::evidence::Evidence;
use crate::model::judge::JudgeImage;
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

/// Why an answer cannot be shown to a judge.
#[derive(Debug)]
pub(crate) enum UnshownAnswer {
    Image { written: String, path: PathBuf, error: OpenError },
    File { name: String, path: PathBuf, error: OpenError },
    Binary { name: String, extension: String },
}

impl fmt::Display for UnshownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image { written, path, error } => {
                write!(f, "the image `{written}` of the answer {error} ({})", path.display())
            }
            Self::File { name, path, error: OpenError::TooLarge { bytes, limit } } => write!(
                f,
                "the file `{name}` of the answer has {bytes} bytes, more than the {limit} a judge is shown ({})",
                path.display()
            ),
            Self::File { name, path, error } => {
                write!(f, "the file `{name}` of the answer {error} ({})", path.display())
            }
            Self::Binary { name, extension } => {
                let written = if extension.is_empty() { UNKNOWN_MEDIA_TYPE } else { extension };
                write!(
                    f,
                    "the file `{name}` of the answer is binary, and no preprocessor takes files of its type\n\
                     help: add `preprocessors: [{{ type: {written}, command: […] }}]`"
                )
            }
        }
    }
}

/// The answer of a trial with its files as text, each where the agent put it. `preprocess` runs a preprocessor on a file: it
/// gets the name of the file and the input of the command, and returns the command's output.
pub(crate) fn shown_answer<E: From<UnshownAnswer>>(
    preprocessors: &[Preprocessor],
    evidence: &Evidence<'_>,
    mut preprocess: impl FnMut(&Preprocessor, &str, &Value) -> Result<String, E>,
) -> Result<ShownAnswer, E> {
    let (parts, files) = (answer_parts(evidence), &evidence.facts().files);
    let mut images = Vec::new();
    let mut texts = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text.clone()),
            Part::Image { file, media_type } => {
                let (path, written) = (files.path(file), file.written.clone());
                let bytes = match files.read(file, LARGEST_IMAGE) {
                    Ok(bytes) => bytes.into(),
                    Err(error) => return Err(UnshownAnswer::Image { written, path, error }.into()),
                };
                images.push(JudgeImage { media_type: media_type.clone(), path, bytes });
            }
            other => {
                let Some(file) = other.file() else { continue };
                let path = files.path(file);
                let extension = extension_of(&path);
                let text = match preprocessors.iter().find(|preprocessor| takes(&preprocessor.media_type, &extension)) {
                    Some(preprocessor) => {
                        files.check(file).map_err(|error| unreadable(file, &path, error))?;
                        preprocess(preprocessor, &file.path, &command_input(file, &path, &extension))?
                    }
                    None => match (other.media_type(), text_of(files, file, &path, extension)) {
                        // A judge takes no sound and no documents: what is not text is named.
                        (Some(media_type), Err(UnshownAnswer::Binary { .. })) => format!("({media_type}, not shown)"),
                        (_, text) => text?,
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
    let transcript = evidence.transcript().unwrap_or_default();
    let mut spoken = transcript.iter().rev().filter(|message| message.role == Role::Assistant);
    match spoken.find_map(|message| message.content.as_ref()) {
        Some(Content::Parts(parts)) => parts,
        _ => &[],
    }
}

fn extension_of(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn unreadable(file: &PathRef, path: &Path, error: OpenError) -> UnshownAnswer {
    UnshownAnswer::File { name: file.path.clone(), path: path.to_owned(), error }
}

fn text_of(files: &AnswerFiles, file: &PathRef, path: &Path, extension: String) -> Result<String, UnshownAnswer> {
    match String::from_utf8(files.read(file, LARGEST).map_err(|error| unreadable(file, path, error))?) {
        Ok(text) if !text.contains('\0') => Ok(text.replace("\r\n", "\n")),
        _ => Err(UnshownAnswer::Binary { name: file.path.clone(), extension }),
    }
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
