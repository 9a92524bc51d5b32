//! The structure of written documents, in evalsuite's format and in that of other tools: the result of a trial, content of messages and
//! outputs of tools; and a value of a document with its path, which errors name.

use evalsuite_records::record::{GraderRecord, GraderState, Reason, Status, Verdict};
use evalsuite_schema::json::{ToJson, json, skip_empty};
use evalsuite_schema::{Content, Object, Part, PathRef, Value, media_type};

use crate::model::messages::pretty;
use crate::platform::excerpt::first_chars;
use crate::platform::redaction::Redactor;
use crate::record::trajectory::TrajectoryError;

#[derive(Debug, ToJson)]
pub(crate) struct TrajectoryDocument<'d> {
    pub(crate) schema_version: &'static str,
    pub(crate) session_id: String,
    pub(crate) trajectory_id: String,
    pub(crate) agent: Agent,
    pub(crate) steps: Vec<Step>,
    pub(crate) final_metrics: Object,
    pub(crate) extra: DocumentExtra<'d>,
}

/// What ATIF has no field for in a document. Readers know the keys as those of `extra`.
#[skip_empty]
#[derive(Debug, ToJson)]
pub(crate) struct DocumentExtra<'d> {
    pub(crate) evalsuite: TrialVerdict<'d>,
    /// In the form in which mira writes and reads it.
    pub(crate) reward: Option<Reward<'d>>,
    /// `false` if there was no transcript, only an answer.
    pub(crate) transcript_reported: Option<bool>,
}

#[skip_empty]
#[derive(Debug, ToJson)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) model_name: Option<String>,
    pub(crate) tool_definitions: Vec<Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ToJson)]
pub(crate) enum Source {
    System,
    User,
    #[default]
    Agent,
}

#[skip_empty]
#[derive(Debug, Default, ToJson)]
pub(crate) struct Step {
    pub(crate) step_id: usize,
    pub(crate) timestamp: Option<String>,
    pub(crate) source: Source,
    pub(crate) model_name: Option<String>,
    pub(crate) message: Value,
    pub(crate) reasoning_content: Option<String>,
    pub(crate) tool_calls: Vec<Call>,
    pub(crate) observation: Option<Observation>,
    pub(crate) metrics: Object,
    pub(crate) llm_call_count: Option<u64>,
    pub(crate) extra: Object,
}

#[derive(Debug, ToJson)]
pub(crate) struct Call {
    pub(crate) tool_call_id: String,
    pub(crate) function_name: String,
    pub(crate) arguments: Object,
    #[json(skip_if = "Object::is_empty")]
    pub(crate) extra: Object,
}

#[derive(Debug, Default, ToJson)]
pub(crate) struct Observation {
    pub(crate) results: Vec<CallOutput>,
}

#[skip_empty]
#[derive(Debug, ToJson)]
pub(crate) struct CallOutput {
    pub(crate) source_call_id: Option<String>,
    pub(crate) content: Option<Value>,
    pub(crate) extra: Object,
}

/// The result of a trial and its graders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialResult<'a> {
    pub(crate) outcome: Status,
    pub(crate) score: Option<f64>,
    pub(crate) reason: Option<&'a Reason>,
    pub(crate) graders: &'a [GraderRecord],
}

/// Outcome, score and verdicts.
#[derive(Debug, ToJson)]
pub(crate) struct TrialVerdict<'a> {
    outcome: Status,
    score: Option<f64>,
    reason: Option<&'a Reason>,
    graders: Vec<GraderVerdict<'a>>,
}

#[derive(Debug, ToJson)]
struct GraderVerdict<'a> {
    name: &'a str,
    state: GraderState,
    verdict: Option<Verdict>,
    value: Option<f64>,
}

/// The same as `reward`, by which other tools know whether a trajectory is a good one.
#[derive(Debug, ToJson)]
pub(crate) struct Reward<'a> {
    pass: bool,
    score: Option<f64>,
    scorers: Vec<Scorer<'a>>,
}

#[derive(Debug, ToJson)]
struct Scorer<'a> {
    name: &'a str,
    value: Option<f64>,
    pass: bool,
    reason: Option<&'a str>,
}

impl<'a> TrialResult<'a> {
    pub(crate) fn verdict(&self) -> TrialVerdict<'a> {
        let mut graders = Vec::new();
        for GraderRecord { name, state, verdict, value, .. } in self.graders {
            graders.push(GraderVerdict { name, state: *state, verdict: *verdict, value: *value });
        }
        TrialVerdict { outcome: self.outcome, score: self.score, reason: self.reason, graders }
    }

    /// `None` if the trial was not graded to its end.
    pub(crate) fn reward(&self) -> Option<Reward<'a>> {
        if !matches!(self.outcome, Status::Passed | Status::Failed) {
            return None;
        }
        let mut scorers = Vec::new();
        for GraderRecord { name, verdict, value, rationale, .. } in self.graders {
            if let Some(verdict) = verdict {
                scorers.push(Scorer { name, value: *value, pass: verdict.is_pass(), reason: rationale.as_deref() });
            }
        }
        Some(Reward { pass: self.outcome == Status::Passed, score: self.score, scorers })
    }
}

/// Most characters of an invalid value in an error.
const SHOWN: usize = 60;

#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) value: &'a Value,
    path: NodePath<'a>,
}

#[derive(Clone, Copy)]
enum NodePath<'a> {
    Root,
    Key(&'a Node<'a>, &'static str),
    Index(&'a Node<'a>, usize),
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { value, path: NodePath::Root }
    }

    /// The value of a key, unless it is null.
    pub(crate) fn get<'n>(&'n self, key: &'static str) -> Option<Node<'n>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Node { value, path: NodePath::Key(self, key) })
    }

    pub(crate) fn required<'n>(&'n self, key: &'static str) -> Result<Node<'n>, TrajectoryError> {
        self.object()?;
        self.get(key).ok_or_else(|| TrajectoryError::new(format!("{} has no `{key}`", self.shown_path())))
    }

    pub(crate) fn object(&self) -> Result<&'a Object, TrajectoryError> {
        self.value.as_object().ok_or_else(|| self.unexpected("an object"))
    }

    pub(crate) fn text(&self) -> Result<&'a str, TrajectoryError> {
        self.value.as_str().ok_or_else(|| self.unexpected("a string"))
    }

    /// The value as an integer of at least 0.
    pub(crate) fn count(&self) -> Result<u64, TrajectoryError> {
        self.value.as_u64().ok_or_else(|| self.unexpected("an integer of at least 0"))
    }

    /// The value as a number of at least 0.
    pub(crate) fn amount(&self) -> Result<f64, TrajectoryError> {
        let number = self.value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.unexpected("a number of at least 0"))
    }

    pub(crate) fn items<'n>(&'n self) -> Result<impl Iterator<Item = Node<'n>>, TrajectoryError> {
        let items = self.value.as_array().ok_or_else(|| self.unexpected("a list"))?;
        Ok(items.iter().enumerate().map(|(index, value)| Node { value, path: NodePath::Index(self, index) }))
    }

    /// The error for a value that is not what was expected.
    pub(crate) fn unexpected(&self, expected: &str) -> TrajectoryError {
        let text = self.value.to_string();
        let shown = first_chars(&text, SHOWN);
        TrajectoryError::new(format!("{} is {shown}, expected {expected}", self.shown_path()))
    }

    /// The path of the value for messages.
    pub(crate) fn shown_path(&self) -> String {
        match self.path {
            NodePath::Root => "the trajectory".to_owned(),
            _ => format!("`{}`", self.dotted_path()),
        }
    }

    fn dotted_path(&self) -> String {
        match self.path {
            NodePath::Root => String::new(),
            NodePath::Key(parent, key) => match parent.dotted_path() {
                path if path.is_empty() => key.to_owned(),
                path => format!("{path}.{key}"),
            },
            NodePath::Index(parent, index) => format!("{}[{index}]", parent.dotted_path()),
        }
    }
}

/// The media types of images that ATIF allows.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The form of content that ATIF cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// No content.
    Absent,
    /// Empty text.
    Empty,
    /// JSON, written as text.
    Json,
}

/// The forms and their names in documents.
pub(crate) const FORMS: [(Form, &str); 3] = [(Form::Absent, "absent"), (Form::Empty, "empty"), (Form::Json, "json")];

/// Content as text or parts, and its form if it is neither.
pub(crate) fn write_content(content: &Content, redactor: &Redactor) -> (Value, Option<Form>) {
    match content {
        Content::Text(text) => (Value::String(text.clone()), None),
        Content::Parts(parts) => (parts.iter().map(part).collect(), None),
        Content::Data(data) => (Value::String(as_text(data, redactor)), Some(Form::Json)),
    }
}

/// JSON as text. Secrets are hidden first, because quotes and escapes change them.
pub(crate) fn as_text(data: &Value, redactor: &Redactor) -> String {
    pretty(&redactor.redacted(data.clone()).unwrap_or_else(|_| data.clone()))
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { file, media_type } if IMAGE_TYPES.contains(&media_type.as_str()) => {
            json!({"type": "image", "source": {"media_type": media_type, "path": file.path}})
        }
        Part::Audio { file, media_type } => audio(file, media_type),
        other => {
            let Some(file) = other.file() else { return json!({"type": "text", "text": ""}) };
            let media_type = if matches!(other, Part::Document { .. }) { None } else { audio_type(&file.path) };
            match media_type {
                Some(media_type) => audio(file, media_type),
                None => json!({"type": "text", "text": format!("[file: {}]", file.path)}),
            }
        }
    }
}

fn audio(file: &PathRef, media_type: &str) -> Value {
    json!({"type": "audio", "source": {"media_type": media_type, "path": file.path}})
}

fn audio_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    media_type::of_extension(extension).filter(|media_type| media_type.starts_with("audio/"))
}

/// Reads content of a document.
pub(crate) fn read_content(node: &Node<'_>, form: Option<Form>) -> Result<Content, TrajectoryError> {
    match node.value {
        Value::String(text) if form == Some(Form::Json) => {
            let data = evalsuite_schema::json::from_str(text);
            Ok(data.map_or_else(|_| Content::Text(text.clone()), Content::Data))
        }
        Value::String(text) => Ok(Content::Text(text.clone())),
        Value::Array(_) => {
            let parts = node.items()?.map(|item| read_part(&item)).collect::<Result<_, _>>()?;
            Ok(Content::Parts(parts))
        }
        _ => Err(node.unexpected("a string or a list of content parts")),
    }
}

fn read_part(node: &Node<'_>) -> Result<Part, TrajectoryError> {
    let kind = node.required("type")?;
    match kind.text()? {
        "text" => {
            let text = node.required("text")?.text()?;
            let file = text.strip_prefix("[file: ").and_then(|rest| rest.strip_suffix(']'));
            Ok(file.map_or_else(|| Part::Text(text.to_owned()), |path| Part::File(PathRef::new(path))))
        }
        media @ ("image" | "audio") => {
            let source = node.required("source")?;
            let media_type = source.required("media_type")?.text()?.to_owned();
            let file = PathRef::new(source.required("path")?.text()?);
            Ok(if media == "image" { Part::Image { file, media_type } } else { Part::Audio { file, media_type } })
        }
        _ => Err(kind.unexpected("`text`, `image` or `audio`")),
    }
}
