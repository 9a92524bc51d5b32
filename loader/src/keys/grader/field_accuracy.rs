//! `field-accuracy`.

use evalsuite_schema::grader::{DateFormat, FieldAggregation};

use super::grader;
use crate::diagnostic::Code;
use crate::keys::range::NOT_NEGATIVE;
use crate::keys::{Key, Table, Type, words};

/// How a field is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchName {
    Exact,
    NumericTolerance,
    Date,
}

pub(crate) const MATCHES: &[(&str, MatchName); 3] =
    &[("exact", MatchName::Exact), ("numeric_tolerance", MatchName::NumericTolerance), ("date", MatchName::Date)];

pub(crate) const AGGREGATIONS: &[(&str, FieldAggregation); 2] =
    &[("weighted_average", FieldAggregation::WeightedAverage), ("all_or_nothing", FieldAggregation::AllOrNothing)];

pub(crate) const DATE_FORMATS: &[(&str, DateFormat); 8] = &[
    ("YYYY-MM-DDTHH:mm:ssZ", DateFormat::DateTimeOffset),
    ("YYYY-MM-DDTHH:mm:ss", DateFormat::DateTime),
    ("YYYY-MM-DD", DateFormat::Date),
    ("DD-MMM-YYYY", DateFormat::DayMonthName),
    ("MM/DD/YYYY", DateFormat::MonthDaySlash),
    ("DD/MM/YYYY", DateFormat::DayMonthSlash),
    ("MM-DD-YYYY", DateFormat::MonthDayDash),
    ("DD-MM-YYYY", DateFormat::DayMonthDash),
];

pub(crate) static FIELD_ACCURACY: Table = grader(
    "field-accuracy",
    "`field-accuracy`",
    r#"{ type: field-accuracy, fields: [{ path: total, match: numeric_tolerance, tolerance: 0.01 }] }"#,
    "Fields of a JSON answer match the reference answer.",
    &[
        Key::new("fields", Type::Some(&Type::Object(&FIELD)), "The fields.", "[{path: total, match: exact}]")
            .required()
            .codes(&[Code::ZeroTotalWeight, Code::FieldNotInExpected]),
        Key::new(
            "aggregation",
            Type::Choice(&words(AGGREGATIONS)),
            "The weighted mean of the fields, or 1 only if all of them match.",
            "all_or_nothing",
        )
        .default("`weighted_average`"),
    ],
);

pub(crate) static FIELD: Table = Table::new(
    "field",
    "a field",
    "One field to compare.",
    &[
        Key::new("path", Type::Text, "Names and `[n]` joined by dots.", "items[0].price")
            .required()
            .codes(&[Code::FieldNotInExpected]),
        Key::new(
            "match",
            Type::Choice(&words(MATCHES)),
            "How the values are compared: equal as JSON, as numbers within a tolerance, or as dates.",
            "numeric_tolerance",
        )
        .required(),
        Key::new("required", Type::Boolean, "Whether a missing field is a miss; otherwise it is left out.", "false")
            .default("`true`"),
        Key::new("weight", Type::Number(&NOT_NEGATIVE), "Share in the mean of the fields.", "2")
            .default("1")
            .codes(&[Code::InvalidWeight]),
        Key::new(
            "tolerance",
            Type::Number(&NOT_NEGATIVE),
            "Largest difference, with `match: numeric_tolerance`.",
            "0.01",
        )
        .default("0")
        .codes(&[Code::SettingConflict]),
        Key::new("relative", Type::Boolean, "Whether the tolerance is relative to the expected number.", "true")
            .default("`false`")
            .codes(&[Code::SettingConflict]),
        Key::new(
            "formats",
            Type::List(&Type::Choice(&words(DATE_FORMATS))),
            "Formats that decide the order of day and month, with `match: date`.",
            "[DD/MM/YYYY]",
        )
        .default("all of them")
        .codes(&[Code::SettingConflict]),
    ],
);
