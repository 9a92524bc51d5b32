//! `field-accuracy`.

use evalsuite_schema::grader::{DateFormat, FieldAggregation, FieldMatch, GraderConfig};

use super::{check, config};

#[test]
fn a_field_says_how_it_is_compared() {
    let entry = "{type: field-accuracy, aggregation: all_or_nothing, fields: [{path: a, match: exact},
        {path: 'b[0].c', match: numeric_tolerance, tolerance: 0.5, relative: true, weight: 2, required: false},
        {path: d, match: date, formats: [DD/MM/YYYY]}]}";
    let GraderConfig::FieldAccuracy(accuracy) = config(entry) else { panic!("another type") };
    assert_eq!(accuracy.aggregation, FieldAggregation::AllOrNothing);
    assert_eq!(accuracy.fields[0].matching, FieldMatch::Exact);
    assert!(accuracy.fields[0].required);
    assert_eq!(accuracy.fields[1].matching, FieldMatch::NumericTolerance { tolerance: 0.5, relative: true });
    assert_eq!((accuracy.fields[1].weight, accuracy.fields[1].required), (2.0, false));
    assert_eq!(accuracy.fields[2].matching, FieldMatch::Date { formats: vec![DateFormat::DayMonthSlash] });
}

#[test]
fn bad_fields_are_errors() {
    check(&[
        ("{type: field-accuracy}", &["1:3 E052 missing key `fields` in `field-accuracy`"]),
        ("{type: field-accuracy, fields: []}", &["1:34 E052 `fields` is empty"]),
        ("{type: field-accuracy, fields: [a]}", &["1:35 E020 a field must be a mapping, found text"]),
        ("{type: field-accuracy, fields: [{match: exact}]}", &["1:35 E052 missing key `path` in a field"]),
        ("{type: field-accuracy, fields: [{path: a}]}", &["1:35 E052 missing key `match` in a field"]),
        (
            "{type: field-accuracy, fields: [{path: a, match: numeric-tolerance}]}",
            &["1:52 E023 `match` is `numeric-tolerance`, which is not one of `exact`, `numeric_tolerance` and `date`"],
        ),
        (
            "{type: field-accuracy, fields: [{path: a, match: exact, tolerance: 1, formats: []}]}",
            &[
                "1:59 E028 `tolerance` has a meaning only with `match: numeric_tolerance`",
                "1:73 E028 `formats` has a meaning only with `match: date`",
            ],
        ),
        (
            "{type: field-accuracy, fields: [{path: a, match: date, formats: [YYYY]}]}",
            &[
                "1:68 E023 a date format is `YYYY`, which is not one of `YYYY-MM-DDTHH:mm:ssZ`, `YYYY-MM-DDTHH:mm:ss`, `YYYY-MM-DD`, \
             `DD-MMM-YYYY`, `MM/DD/YYYY`, `DD/MM/YYYY`, `MM-DD-YYYY` and `DD-MM-YYYY`",
            ],
        ),
        (
            "{type: field-accuracy, fields: [{path: a, match: exact, weight: 0}]}",
            &["1:34 E061 every field has weight 0"],
        ),
        ("{type: field-accuracy, fields: [{path: a, match: exact, weight: -1}]}", &["1:67 E060 `weight` is -1"]),
    ]);
}
