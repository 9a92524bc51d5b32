//! Settings of `field-accuracy`, and the document it compares with.

use crate::calendar_date::{self, Date, DateFormat};
use crate::json::{FromJson, ToJson};
use evalsuite_derive::{Keys, Words};

use super::{GraderSettings, trim};
use crate::{Content, Message, Role, Value};

/// Fields of a JSON answer match the reference answer.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
pub struct FieldAccuracy {
    /// The fields.
    #[key(Some(&Object(Field::TABLE)), "[{path: total, match: exact}]", required, codes(ZeroTotalWeight, FieldNotInExpected), by_hand)]
    pub fields: Vec<Field>,
    /// The weighted mean of the fields, or 1 only if all of them match.
    #[key(Choice(FieldAggregation::WORDS), "all_or_nothing", default = "`weighted_average`", init = FieldAggregation::WeightedAverage)]
    #[json(default, skip_if = "crate::is_default")]
    pub aggregation: FieldAggregation,
}

impl GraderSettings for FieldAccuracy {}

impl FieldAccuracy {
    /// The value at a path of a document: names and `[n]` joined by dots. Empty parts are skipped; a number selects an
    /// element of a list, anything else a key of an object.
    pub fn find<'v>(document: &'v Value, path: &str) -> Option<&'v Value> {
        let mut value = document;
        for part in path.split(['.', '[', ']']).filter(|part| !part.is_empty()) {
            value = match value {
                Value::Object(object) => object.get(part)?,
                Value::Array(items) => {
                    let is_index = part.bytes().all(|byte| byte.is_ascii_digit());
                    items.get(part.parse::<usize>().ok().filter(|_| is_index)?)?
                }
                _ => return None,
            };
        }
        Some(value)
    }
}

/// The object that fields are compared with: content of the last assistant message that is an object, or a text that
/// contains one, from the first `{` to the last `}`.
pub fn expected_document(messages: &[Message]) -> Option<Value> {
    messages.iter().rev().filter(|message| message.role == Role::Assistant).find_map(|message| match &message.content {
        Some(Content::Data(value)) if value.is_object() => Some(value.clone()),
        Some(Content::Text(text)) => {
            let (start, end) = (text.find('{')?, text.rfind('}')?);
            let value: Value = crate::json::from_str_with_unique_keys(text.get(start..=end)?).ok()?;
            value.is_object().then_some(value)
        }
        _ => None,
    })
}

/// One field to compare.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "field", what = "a field", missing = MissingGraderSetting)]
#[also(tolerance: Number(&NOT_NEGATIVE), "0.01", "Largest difference, with `match: numeric_tolerance`.", default = "0",
    codes(SettingConflict))]
#[also(relative: Boolean, "true", "Whether the tolerance is relative to the expected number.", default = "`false`",
    codes(SettingConflict))]
#[also(formats: List(&Choice(DateFormat::WORDS)), "[DD/MM/YYYY]", "Formats that decide the order of day and month, with `match: date`.",
    default = "all of them", codes(SettingConflict), by_hand)]
pub struct Field {
    /// Names and `[n]` joined by dots.
    #[key(Text, "items[0].price", required, codes(FieldNotInExpected))]
    pub path: String,
    /// How the values are compared: equal as JSON, as numbers within a tolerance, or as dates.
    #[key(Choice(FieldMatch::WORDS), "numeric_tolerance", name = "match", required)]
    #[json(rename = "match")]
    pub matching: FieldMatch,
    /// Whether a missing field counts as a mismatch; otherwise it is left out.
    #[key(Boolean, "false", default = "`true`", init = true)]
    pub required: bool,
    /// Share in the mean of the fields.
    #[key(Number(&NOT_NEGATIVE), "2", default = "1", codes(InvalidWeight), by_hand, init = 1.0)]
    pub weight: f64,
}

impl Field {
    /// What the expected value of the field has to be, and is not: it can be compared with no answer.
    pub fn unmet(&self, expected: &Value) -> Option<&'static str> {
        match &self.matching {
            FieldMatch::Exact => None,
            FieldMatch::NumericTolerance { .. } => decimal_text(expected).is_none().then_some("a number"),
            FieldMatch::Date { formats } => date(expected, formats).is_none().then_some("a date"),
        }
    }
}

/// The day that a value is, if it is a text in a known format.
pub fn date(value: &Value, formats: &[DateFormat]) -> Option<Date> {
    calendar_date::parse(value.as_str()?, formats)
}

/// A number as it is written, or a text that is a decimal number; `None` of what is neither, or is not finite.
pub fn decimal_text(value: &Value) -> Option<String> {
    let written = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => trim(text).to_owned(),
        _ => return None,
    };
    // The parser of floats also accepts names such as `inf`.
    let is_decimal = written.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let is_finite = || written.parse().is_ok_and(|number: f64| number.is_finite());
    (is_decimal && is_finite()).then_some(written)
}

/// How two values are compared.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum FieldMatch {
    /// Equal as JSON.
    Exact,
    /// Numbers close to each other.
    NumericTolerance {
        /// Largest difference.
        tolerance: f64,
        /// Whether the difference is relative to the expected number.
        relative: bool,
    },
    /// The same day.
    Date {
        /// Formats that decide the order of day and month; empty: all.
        formats: Vec<DateFormat>,
    },
}

impl FieldMatch {
    /// The words that select a way of comparing, in the order of the variants.
    pub const WORDS: &'static [&'static str] = &["exact", "numeric_tolerance", "date"];
}

crate::keys::made!(FieldMatch);

/// How the fields of `field-accuracy` are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum FieldAggregation {
    /// Weighted mean of hits.
    #[default]
    WeightedAverage,
    /// 1 only without a miss.
    AllOrNothing,
}
