//! `field-accuracy`: numbers are compared as fractions of their digits, dates by the crate `jiff`.

use evalsuite::__private::AgentWork;
use evalsuite::{Content, Message, Role};
use evalsuite_schema::json::{Object, Value, json};
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use num_bigint::BigInt;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compared::{Expected, compare, for_each, graded, grader};
use crate::decimal::{Decimal, Exact, mark, whole};
use crate::trajectories::canonical;

/// A field, what the reference and the answer have there, and whether they agree; `None` if no answer can be compared with the reference.
#[derive(Debug, Clone)]
struct Field {
    matching: Value,
    expected: Option<Value>,
    actual: Option<Value>,
    agrees: Option<bool>,
    required: bool,
    weight: Decimal,
}

/// Reads a number in decimal digits, with a sign, a point and an exponent: all of the text has to be one.
pub(crate) fn exact(text: &str) -> Option<Exact> {
    let lower = text.to_ascii_lowercase();
    let (mantissa, exponent) = match lower.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (lower.as_str(), 0),
    };
    let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: BigInt = digits.parse().ok()?;
    let scale = exponent - i32::try_from(fraction.len()).ok()?;
    let power = Exact::from_integer(BigInt::from(10).pow(scale.unsigned_abs()));
    let value = Exact::from_integer(digits) * if scale < 0 { power.recip() } else { power };
    Some(if mantissa.starts_with('-') { -value } else { value })
}

fn magnitude(value: Exact) -> Exact {
    if value < whole(0) { -value } else { value }
}

/// A number as JSON: as a number, or in a string.
fn number() -> impl Strategy<Value = (String, bool)> {
    let digits = prop_oneof![
        6 => (-300..2_500_i64, 0..4_u32).prop_map(|(units, places)| Decimal { units, places }.text()),
        1 => select(vec!["1e3", "-2.5E-1", "0.1", "0.30", "1E2"]).prop_map(str::to_owned),
    ];
    let other = select(vec!["", "-", "abc", "0x10", "1,5", "1 2", "inf", "nan", "1_0", "--1"]).prop_map(str::to_owned);
    prop_oneof![
        8 => digits.clone().prop_map(|text| (text, false)),
        3 => digits.prop_map(|text| (text, true)),
        1 => other.prop_map(|text| (text, true)),
    ]
}

fn as_value((text, is_text): &(String, bool)) -> Value {
    if *is_text { Value::from(text.as_str()) } else { evalsuite_schema::json::from_str(text).expect("a number") }
}

fn numeric() -> impl Strategy<Value = (Value, Value, Value, Option<bool>)> {
    let tolerance = prop_oneof![
        (0..20_i64, 0..4_u32).prop_map(|(units, places)| Decimal { units, places }),
        Just(Decimal { units: 1, places: 2 }),
    ];
    // Numbers that are as far from each other as the tolerance are rare, unless they are made.
    (number(), number(), tolerance, any::<bool>(), -1..=2_i64).prop_map(
        |(expected, other, tolerance, relative, steps)| {
            let near = exact(&expected.0).filter(|_| steps > 0 && !expected.0.contains(['e', 'E'])).map(|_| {
                let places = expected.0.split_once('.').map_or(0, |(_, places)| places.len());
                let places = u32::try_from(places).expect("few places").max(tolerance.places);
                let scaled = exact(&expected.0).expect("a number") * Exact::from_integer(BigInt::from(10).pow(places));
                let units: i64 = scaled.to_integer().try_into().expect("a small number");
                let step = tolerance.units * 10_i64.pow(places - tolerance.places);
                (Decimal { units: units + step * (2 * (steps % 2) - 1), places }.text(), other.1)
            });
            let actual = near.unwrap_or(other);
            let agrees = exact(&expected.0).map(|expected| {
                let Some(actual) = exact(&actual.0) else { return false };
                let difference = magnitude(actual - expected.clone());
                let scale = if relative && expected != whole(0) { magnitude(expected) } else { whole(1) };
                difference <= tolerance.exact() * scale
            });
            let matching = json!({"numeric_tolerance": {"tolerance": tolerance.float(), "relative": relative}});
            (matching, as_value(&expected), as_value(&actual), agrees)
        },
    )
}

/// How a date is written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Iso,
    Time,
    Offset(i8),
    Zulu,
    YearSlash,
    NameDash,
    NameSpaces,
    NameFirst,
    Slash,
    Dash,
    Year,
    Month,
}

const NAMES: &str = "January February March April May June July August September October November December";

/// A date that may not exist: year, month, day, hour, minute.
type Numbers = (i16, i8, i8, i8, i8);

fn written((year, month, day, hour, minute): Numbers, form: Form, day_first: bool, short: bool) -> String {
    let name = NAMES.split(' ').nth(usize::try_from(month - 1).unwrap_or(0)).unwrap_or("Smarch");
    let name = if short { &name[..3] } else { name };
    let (first, second) = if day_first { (day, month) } else { (month, day) };
    match form {
        Form::Iso => format!("{year:04}-{month:02}-{day:02}"),
        Form::Time => format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00"),
        Form::Zulu => format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"),
        Form::Offset(hours) => format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00{hours:+03}:00"),
        Form::YearSlash => format!("{year:04}/{month}/{day}"),
        Form::NameDash => format!("{day}-{}-{year:04}", &name[..3]),
        Form::NameSpaces => format!("{day} {name} {year:04}"),
        Form::NameFirst => format!("{name} {day}, {year:04}"),
        Form::Slash => format!("{first:02}/{second:02}/{year:04}"),
        Form::Dash => format!("{first}-{second}-{year:04}"),
        Form::Year => format!("{year:04}"),
        Form::Month => format!("{year:04}-{month:02}"),
    }
}

/// The day that is meant, if it exists.
fn day_of((year, month, day, hour, minute): Numbers, form: Form, day_first: bool, formats: &[&str]) -> Option<Date> {
    match form {
        Form::Year => Date::new(year, 1, 1).ok(),
        Form::Month => Date::new(year, month, 1).ok(),
        Form::Offset(hours) => {
            let local = DateTime::new(year, month, day, hour, minute, 0, 0).ok()?;
            Some(Offset::UTC.to_datetime(Offset::constant(hours).to_timestamp(local).ok()?).date())
        }
        Form::Slash | Form::Dash => {
            let (first, second) = if day_first { (day, month) } else { (month, day) };
            // The formats with this separator say more than those with the other one.
            let (own, other) = if matches!(form, Form::Slash) { ('/', '-') } else { ('-', '/') };
            let order = |separator: char| {
                let lists = |format: String| formats.contains(&format.as_str());
                let of = |[a, b]: [&str; 2]| lists(format!("{a}{separator}{b}{separator}YYYY"));
                match (of(["DD", "MM"]), of(["MM", "DD"])) {
                    (false, false) => None,
                    listed => Some(listed),
                }
            };
            let reads_day_first = match order(own).or_else(|| order(other)) {
                Some((true, false)) => true,
                Some((false, true)) => false,
                _ => first > 12,
            };
            let (month, day) = if reads_day_first { (second, first) } else { (first, second) };
            Date::new(year, month, day).ok()
        }
        _ => Date::new(year, month, day).ok(),
    }
}

fn date() -> impl Strategy<Value = (Value, Value, Value, Option<bool>)> {
    let numbers = || (1999..2005_i16, 1..=13_i8, 1..=32_i8, 0..24_i8, 0..60_i8);
    let form = || {
        prop_oneof![
            select(vec![
                Form::Iso,
                Form::Time,
                Form::Zulu,
                Form::YearSlash,
                Form::NameDash,
                Form::NameSpaces,
                Form::NameFirst,
                Form::Slash,
                Form::Dash,
                Form::Slash,
                Form::Dash,
                Form::Year,
                Form::Month,
            ]),
            (-12..=14_i8).prop_map(Form::Offset),
        ]
    };
    let formats = select(vec![
        vec![],
        vec!["DD/MM/YYYY"],
        vec!["MM/DD/YYYY"],
        vec!["MM-DD-YYYY", "YYYY-MM-DD"],
        vec!["DD-MM-YYYY", "MM/DD/YYYY"],
        vec!["DD-MMM-YYYY"],
        vec!["DD-MMM-YYYY", "DD-MM-YYYY"],
    ]);
    let flags = [any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()];
    (numbers(), numbers(), form(), form(), formats, flags, 0..3_u8).prop_map(
        |(left, other, left_form, right_form, formats, [left_first, right_first, short, lower], near)| {
            let right = if near == 0 { other } else { left };
            let matching = json!({"date": {"formats": formats}});
            let left_day = day_of(left, left_form, left_first, &formats);
            let right_day = day_of(right, right_form, right_first, &formats);
            let mut actual = written(right, right_form, right_first, short);
            if lower && matches!(right_form, Form::NameDash | Form::NameFirst | Form::NameSpaces) {
                actual = actual.to_lowercase();
            }
            // A month that has no name is written with a wrong one.
            let has_name = |(_, month, ..): Numbers, form: Form| {
                month <= 12 || !matches!(form, Form::NameDash | Form::NameFirst | Form::NameSpaces)
            };
            let is_date = left_day.is_some() && has_name(left, left_form);
            let agrees = is_date.then(|| left_day == right_day && has_name(right, right_form));
            (matching, Value::from(written(left, left_form, left_first, !short)), Value::from(actual), agrees)
        },
    )
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaves = [
        json!(1),
        json!(1.0),
        json!("1"),
        json!(null),
        json!(true),
        json!({"a": 1, "b": [1.0]}),
        json!({"b": [1], "a": 1.0}),
        json!([1, 2]),
        json!([2, 1]),
        json!({}),
        json!(""),
        json!([]),
        json!(9_007_199_254_740_993_u64),
        json!(9_007_199_254_740_992_u64),
    ];
    select(leaves.to_vec())
}

fn field() -> impl Strategy<Value = Field> {
    let exact = (any_json(), any_json()).prop_map(|(expected, actual)| {
        let agrees = Some(canonical(&expected) == canonical(&actual));
        (json!("exact"), expected, actual, agrees)
    });
    let compared = prop_oneof![exact, numeric(), numeric(), date(), date()];
    let weight = (0..4_i64, 0..2_u32).prop_map(|(units, places)| Decimal { units, places });
    (compared, 0..12_u8, 0..8_u8, any::<bool>(), weight).prop_map(
        |((matching, expected, actual, agrees), no_expected, no_actual, required, weight)| Field {
            matching,
            expected: (no_expected > 0).then_some(expected),
            actual: (no_actual > 0).then_some(actual),
            agrees,
            required,
            weight,
        },
    )
}

/// The text of a document whose field `n` has the n-th value. Numbers keep their digits.
fn document(values: impl Iterator<Item = Option<Value>>) -> Value {
    let entries: Object = values.enumerate().filter_map(|(index, value)| Some((format!("f{index}"), value?))).collect();
    json!({"of": [Value::Object(entries)]})
}

fn expected(fields: &[Field], all_or_nothing: bool, mark: &Exact) -> Expected {
    if fields.iter().any(|field| field.expected.is_some() && field.agrees.is_none()) {
        return Expected::Error;
    }
    let compared: Vec<(bool, Exact)> = fields
        .iter()
        .filter(|field| field.expected.is_some() && (field.actual.is_some() || field.required))
        .map(|field| (field.actual.is_some() && field.agrees == Some(true), field.weight.exact()))
        .collect();
    if compared.is_empty() {
        return Expected::Undecided;
    }
    let score = if all_or_nothing {
        whole(i64::from(compared.iter().all(|(hit, _)| *hit)))
    } else {
        let total: Exact = compared.iter().map(|(_, weight)| weight.clone()).sum();
        if total == whole(0) {
            return Expected::Undecided;
        }
        compared.iter().filter(|(hit, _)| *hit).map(|(_, weight)| weight.clone()).sum::<Exact>() / total
    };
    let passes = score >= *mark;
    Expected::Decided(score, passes)
}

#[test]
fn fields_are_compared_as_numbers_and_dates_are_written() {
    let around = select(vec![("", ""), ("Here: ", " done"), ("```json\n", "\n```"), (" \n", "")]);
    let inputs = (vec(field(), 1..5), any::<bool>(), option::weighted(0.4, mark()), around);
    for_each("field-accuracy", inputs, |(fields, all_or_nothing, min_score, (before, after))| {
        let written = fields.iter().enumerate().map(|(index, field)| {
            json!({
                "path": format!("of[0].f{index}"), "match": field.matching, "required": field.required,
                "weight": field.weight.float(),
            })
        });
        let aggregation = if *all_or_nothing { "all_or_nothing" } else { "weighted_average" };
        let written: Vec<Value> = written.collect();
        let mut grader = grader(json!({"field-accuracy": {"aggregation": aggregation, "fields": written}}));
        grader.min_score = min_score.map(Decimal::float);
        let reference = document(fields.iter().map(|field| field.expected.clone()));
        let answer = document(fields.iter().map(|field| field.actual.clone()));
        let work = AgentWork {
            answer: format!("{before}{answer}{after}"),
            expected_output: vec![Message::new(Role::Assistant, Content::Data(reference))],
            ..AgentWork::default()
        };
        let mark = min_score.unwrap_or(Decimal { units: 8, places: 1 }).exact();
        compare(&graded(&grader, work), &expected(fields, *all_or_nothing, &mark))
    });
}
