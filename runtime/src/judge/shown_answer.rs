//! The answer as judges are shown it: its text with the text of its files, and its images.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use evalsuite_schema::grader::Preprocessor;
use evalsuite_schema::media_type::of_extension;
use evalsuite_schema::{Content, Part, PathRef, Role};
use serde_json::{Value, json};

use crate::model::evidence::Evidence;
use crate::model::judge::JudgeImage;
use crate::model::suite_location::SuiteLocation;
use crate::platform::excerpt::trim;

/// Largest file that is shown to a judge, in bytes.
const LARGEST: u64 = 1024 * 1024;

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
    ImageMissing { written: String, path: PathBuf },
    Unreadable { name: String, path: PathBuf, error: io::Error },
    TooLarge { name: String, bytes: u64 },
    Binary { name: String, extension: String },
}

impl fmt::Display for UnshownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ImageMissing { written, path } => {
                write!(f, "the image `{written}` of the answer does not exist ({})", path.display())
            }
            Self::Unreadable { name, path, error } => {
                write!(f, "the file `{name}` of the answer cannot be read ({}): {error}", path.display())
            }
            Self::TooLarge { name, bytes } => {
                write!(f, "the file `{name}` of the answer has {bytes} bytes, more than the {LARGEST} a judge is shown")
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
///
/// # Errors
///
/// If a file cannot be read, and those of `preprocess`.
pub(crate) fn shown_answer<E: From<UnshownAnswer>>(
    preprocessors: &[Preprocessor],
    evidence: &Evidence<'_>,
    places: &SuiteLocation,
    mut preprocess: impl FnMut(&Preprocessor, &str, &Value) -> Result<String, E>,
) -> Result<ShownAnswer, E> {
    let parts = answer_parts(evidence);
    let mut images = Vec::new();
    let mut texts = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text.clone()),
            Part::Image { file, media_type } => {
                let path = path_of_agent(file, evidence, places);
                if !path.is_file() {
                    return Err(UnshownAnswer::ImageMissing { written: file.written.clone(), path }.into());
                }
                images.push(JudgeImage { media_type: media_type.clone(), path });
            }
            Part::File(file) => {
                let path = path_of_agent(file, evidence, places);
                let length = fs::metadata(&path).map_err(|error| unreadable(file, &path, error))?.len();
                let extension = extension_of(&path);
                let text = match preprocessors.iter().find(|preprocessor| takes(&preprocessor.media_type, &extension)) {
                    Some(preprocessor) => {
                        preprocess(preprocessor, &file.path, &command_input(file, &path, &extension))?
                    }
                    None => text_of(file, &path, length, extension)?,
                };
                let written = if file.written.is_empty() { &file.path } else { &file.written };
                texts.push(format!("[[ file: {written} ]]\n{text}"));
            }
        }
    }
    let text = if parts.is_empty() { evidence.answer().to_owned() } else { texts.join("\n") };
    Ok(ShownAnswer { text: trim(&text).to_owned(), images })
}

/// Parts of the message that is the answer.
fn answer_parts<'a>(evidence: &'a Evidence<'_>) -> &'a [Part] {
    let transcript = evidence.transcript().unwrap_or_default();
    let mut spoken = transcript.iter().rev().filter(|message| message.role == Role::Assistant);
    match spoken.find_map(|message| message.content.as_ref()) {
        Some(Content::Parts(parts)) => parts,
        _ => &[],
    }
}

/// The path of a file that an agent names: in its workspace, unless the path is absolute.
pub(crate) fn path_of_agent(file: &PathRef, evidence: &Evidence<'_>, places: &SuiteLocation) -> PathBuf {
    let own = evidence.workspace().join(&file.path);
    if own.exists() { own } else { places.resolve(file) }
}

fn extension_of(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn unreadable(file: &PathRef, path: &Path, error: io::Error) -> UnshownAnswer {
    UnshownAnswer::Unreadable { name: file.path.clone(), path: path.to_owned(), error }
}

fn text_of(file: &PathRef, path: &Path, bytes: u64, extension: String) -> Result<String, UnshownAnswer> {
    if bytes > LARGEST {
        return Err(UnshownAnswer::TooLarge { name: file.path.clone(), bytes });
    }
    match String::from_utf8(fs::read(path).map_err(|error| unreadable(file, path, error))?) {
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
