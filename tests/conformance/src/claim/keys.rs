//! Keys: unknown, missing, deprecated, conflicting, without effect.

use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::Code;
use evalsuite_schema::json::json;

use super::{Claim, ensure, format_tables, lacks};

pub(super) fn check(claim: &Claim<'_>) -> Result<(), String> {
    match claim.code {
        Code::UnknownKey => unknown(claim),
        Code::MissingKey => absent(claim),
        Code::ConflictingKeys => conflict(claim),
        Code::UnsupportedKey => {
            let known = ["total_budget_usd", "totalBudgetUsd", "target"];
            at_key(claim)?;
            ensure(known.contains(&claim.quoted[0]), || "the key is supported".to_owned())
        }
        Code::NearMissKey => {
            at_key(claim)?;
            let key = claim.quoted[0];
            let near = claim.quoted.get(1).copied().unwrap_or_default();
            ensure(
                !format_tables::CODE_GRADER.contains(&key)
                    && format_tables::CODE_GRADER.contains(&near)
                    && distance(key, near) <= 2,
                || format!("`{key}` is a key of `code-grader`, or not close to `{near}`"),
            )
        }
        Code::DeprecatedKey => {
            let old = claim.quoted.first().copied().unwrap_or_default();
            let old = old.trim_start_matches("{{").trim_end_matches("}}").trim();
            ensure(format_tables::OLD.iter().any(|(known, _)| *known == old), || {
                format!("`{old}` is not a deprecated spelling")
            })?;
            let there = claim.place.text.as_deref().unwrap_or_default();
            ensure(there.contains(old), || format!("`{old}` is not there"))
        }
        _ => no_effect(claim),
    }
}

/// The first quoted word of the message is the key at the location.
fn at_key(claim: &Claim<'_>) -> Result<(), String> {
    let key = claim.quoted.first().copied().unwrap_or_default();
    let there = match claim.value() {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => claim.place.text.clone().unwrap_or_default(),
    };
    ensure(there == key || claim.place.text.as_deref() == Some(key), || format!("the key there is `{there}`"))
}

fn unknown(claim: &Claim<'_>) -> Result<(), String> {
    at_key(claim)?;
    let key = claim.quoted[0];
    if claim.message.ends_with("next to `include`") {
        return ensure(key != "include", || "it is the include itself".to_owned());
    }
    let what = claim.message.split_once(" in ").map_or("", |(_, what)| what);
    // A key may itself contain " in ".
    let what = if format_tables::is_key(what, key).is_some() {
        what
    } else {
        claim.message.rsplit(" in ").next().unwrap_or(what)
    };
    let known = format_tables::is_key(what, key).unwrap_or_else(|| format_tables::is_key_somewhere(key));
    ensure(!known, || format!("`{key}` is a key of {what}"))
}

/// The mapping at the location has no such key, or the key has no value.
fn absent(claim: &Claim<'_>) -> Result<(), String> {
    let key = claim.quoted.first().copied().unwrap_or_default();
    if claim.value().is_some_and(|value| value == key) {
        let value = claim.place.value_of_key();
        return ensure(value.as_ref().is_none_or(Value::is_null), || format!("`{key}` is {value:?}"));
    }
    match claim.mapping() {
        Some(mapping) => ensure(lacks(mapping, key), || format!("`{key}` is there")),
        None => ensure(claim.needs_rest_of_file(), || "there is no mapping".to_owned()),
    }
}

fn conflict(claim: &Claim<'_>) -> Result<(), String> {
    let is_there = |place: &crate::source_excerpt::SourceExcerpt, key: &str| {
        let last = key.rsplit('.').next().unwrap_or(key);
        place.text.as_deref().is_some_and(|text| text.contains(last))
    };
    let (Some(first), Some(other)) = (claim.quoted.first(), claim.related.first()) else {
        return Err("it names no second location".to_owned());
    };
    if claim.message.ends_with("is also in `config`") {
        return ensure(is_there(&claim.place, first) && is_there(other, first), || format!("`{first}` is there once"));
    }
    if claim.message.starts_with("`target` and `targets`") {
        return ensure(claim.value().is_some_and(|key| key == "targets"), || "`targets` is not there".to_owned());
    }
    if claim.message.starts_with("`target` and `execution.target`") {
        return at_key(claim);
    }
    let second = claim.quoted.get(1).copied().unwrap_or(first);
    let one_way = is_there(&claim.place, first) && is_there(other, second);
    let other_way = is_there(&claim.place, second) && is_there(other, first);
    ensure(one_way || other_way, || format!("`{first}` and `{second}` are not at its locations"))
}

fn no_effect(claim: &Claim<'_>) -> Result<(), String> {
    let Some(text) = claim.place.text.as_deref() else {
        // A file next to the entry that is not read.
        let eval = claim.record.eval.as_deref().unwrap_or_default();
        let is_lines = eval.to_ascii_lowercase().ends_with(".jsonl");
        return ensure(is_lines && claim.place.path.is_file(), || "that file is read".to_owned());
    };
    if claim.message.starts_with("an empty list of ") {
        let list = claim.place.value_of_key();
        return ensure(list.is_some_and(|list| list == json!([])), || "that list is not empty".to_owned());
    }
    ensure(format_tables::NO_EFFECT.contains(&text.trim_matches(['"', '\''])), || format!("`{text}` has an effect"))
}

/// Optimal string alignment distance.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
