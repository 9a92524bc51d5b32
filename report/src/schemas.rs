//! JSON Schemas of what evalsuite writes as JSON for other programs.

/// The schemas by name: `summary` is that of `summary.json` and of `cargo evalsuite report --format json`
/// ([`RunSummary`](evalsuite_records::record::RunSummary)), `diff` that of `cargo evalsuite diff --format json`
/// ([`Comparison`](crate::Comparison)), `calibrate` that of `calibration.json` and
/// of `cargo evalsuite calibrate --format json` ([`CalibrationRecord`](evalsuite_records::record::CalibrationRecord)), `gate` that of a
/// [`GateReport`](crate::GateReport), `health` that of `cargo evalsuite health --format json` ([`Health`](crate::Health)), `lift` that of
/// `cargo evalsuite lift --format json` ([`RunLifts`](crate::lift::RunLifts)). They are JSON
/// Schemas of draft 7. Fields that a schema does not name may be added in later versions; readers have to ignore them.
pub const JSON_SCHEMAS: &[(&str, &str)] = &[
    ("summary", include_str!("../schemas/summary.schema.json")),
    ("diff", include_str!("../schemas/diff.schema.json")),
    ("calibrate", include_str!("../schemas/calibrate.schema.json")),
    ("gate", include_str!("../schemas/gate.schema.json")),
    ("health", include_str!("../schemas/health.schema.json")),
    ("lift", include_str!("../schemas/lift.schema.json")),
];
