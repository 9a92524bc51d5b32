//! A value of a document and its path, which errors name.

use evalsuite_schema::{Object, Value};

use crate::platform::excerpt::first_chars;
use crate::record::trajectory::TrajectoryError;

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
