//! Values of YAML that JSON does not have, as promptfoo handles them.

use evalsuite_loader::document::{Data, Foreign, Value};

use super::template;
use crate::report::{Place, Report};

/// Replaces the dates of a configuration by the objects without entries that promptfoo makes of them.
pub(super) fn dates_to_objects(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, place| match foreign {
        Foreign::Date(_) => {
            report.approximated(place, "promptfoo takes a date without quotes for an object without entries");
            Some(Data::Mapping(Vec::new()))
        }
        Foreign::NotFinite(_) => None,
    });
}

/// Replaces the dates of any other file of tests or variables by their texts.
pub(super) fn dates_to_texts(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, place| date_to_text(foreign, place, report));
}

/// The same of a file that is the value of something at a place.
pub(super) fn dates_of_file_to_texts(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, _| date_to_text(foreign, place, report));
}

fn date_to_text(foreign: &Foreign, place: &Place, report: &mut Report) -> Option<Data> {
    let Foreign::Date(text) = foreign else { return None };
    report.different(place, format!("promptfoo takes `{text}` for a date, and not for text: quote it"));
    Some(Data::Text(text.clone()))
}

/// Replaces numbers that are not finite, in a variable, by their names.
pub(super) fn numbers_to_texts(value: &mut Value, place: &Place, report: &mut Report) {
    replace(value, place, &mut |foreign, place| {
        let text = javascript_text(&Value::new(Data::Foreign(foreign.clone())));
        report.different(place, format!("JSON has no such number: the variable is the text `{text}`"));
        Some(Data::Text(text))
    });
}

fn replace(value: &mut Value, place: &Place, by: &mut dyn FnMut(&Foreign, &Place) -> Option<Data>) {
    match &mut value.data {
        Data::Foreign(foreign) => {
            if let Some(data) = by(foreign, place) {
                value.data = data;
            }
        }
        Data::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let place = place.below(item.position.line, &format!("[{index}]"));
                replace(item, &place, by);
            }
        }
        Data::Mapping(entries) => {
            for (key, value) in entries {
                let place = place.below(value.position.line, key);
                replace(value, &place, by);
            }
        }
        _ => {}
    }
}

/// Whether a value has a date or a number that is not finite.
pub(super) fn is_in(value: &Value) -> bool {
    match &value.data {
        Data::Foreign(_) => true,
        Data::List(items) => items.iter().any(is_in),
        Data::Mapping(entries) => entries.iter().any(|(_, value)| is_in(value)),
        _ => false,
    }
}

/// The text that JavaScript makes of a value, as JSON if it has parts.
pub(super) fn javascript_text(value: &Value) -> String {
    match &value.data {
        Data::Foreign(Foreign::NotFinite(number)) => template::number_text(*number),
        _ => template::javascript_text(&value.to_json()),
    }
}

/// The text of `String(value)` in JavaScript.
pub(super) fn string(value: &Value) -> String {
    match &value.data {
        Data::Foreign(Foreign::NotFinite(number)) => template::number_text(*number),
        _ => template::string(&value.to_json()),
    }
}
