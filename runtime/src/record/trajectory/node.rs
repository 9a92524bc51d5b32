//! A value of a document together with the way to it, which errors name.

use evalsuite_schema::Object;
use serde_json::Value;

use crate::record::trajectory::TrajectoryError;

/// Characters of a wrong value that an error shows.
const SHOWN: usize = 60;

#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) value: &'a Value,
    way: Way<'a>,
}

#[derive(Clone, Copy)]
enum Way<'a> {
    Root,
    Key(&'a Node<'a>, &'static str),
    Index(&'a Node<'a>, usize),
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { value, way: Way::Root }
    }

    /// A value that is there and not null.
    pub(crate) fn get<'n>(&'n self, key: &'static str) -> Option<Node<'n>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Node { value, way: Way::Key(self, key) })
    }

    pub(crate) fn required<'n>(&'n self, key: &'static str) -> Result<Node<'n>, TrajectoryError> {
        self.object()?;
        self.get(key).ok_or_else(|| TrajectoryError::new(format!("{} has no `{key}`", self.place())))
    }

    pub(crate) fn object(&self) -> Result<&'a Object, TrajectoryError> {
        self.value.as_object().ok_or_else(|| self.unexpected("an object"))
    }

    pub(crate) fn text(&self) -> Result<&'a str, TrajectoryError> {
        self.value.as_str().ok_or_else(|| self.unexpected("a text"))
    }

    /// A number of things: an integer of at least 0.
    pub(crate) fn count(&self) -> Result<u64, TrajectoryError> {
        self.value.as_u64().ok_or_else(|| self.unexpected("an integer of at least 0"))
    }

    /// An amount: a number of at least 0.
    pub(crate) fn amount(&self) -> Result<f64, TrajectoryError> {
        let number = self.value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.unexpected("a number of at least 0"))
    }

    pub(crate) fn items<'n>(&'n self) -> Result<impl Iterator<Item = Node<'n>>, TrajectoryError> {
        let items = self.value.as_array().ok_or_else(|| self.unexpected("a list"))?;
        Ok(items.iter().enumerate().map(|(index, value)| Node { value, way: Way::Index(self, index) }))
    }

    /// The value is something else.
    pub(crate) fn unexpected(&self, expected: &str) -> TrajectoryError {
        let text = self.value.to_string();
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        TrajectoryError::new(format!("{} is {shown}, expected {expected}", self.place()))
    }

    /// The way to the value as people write it.
    pub(crate) fn place(&self) -> String {
        match self.way {
            Way::Root => "the trajectory".to_owned(),
            _ => format!("`{}`", self.path()),
        }
    }

    fn path(&self) -> String {
        match self.way {
            Way::Root => String::new(),
            Way::Key(parent, key) => match parent.path() {
                path if path.is_empty() => key.to_owned(),
                path => format!("{path}.{key}"),
            },
            Way::Index(parent, index) => format!("{}[{index}]", parent.path()),
        }
    }
}
