//! Fields of spans and events as JSON.

use evalsuite_schema::{Object, Value};
use tracing::Metadata;
use tracing::field::{Field, Visit};

use crate::agents::spans::attribute_names::SIGNS;

/// Prefix of the names of OpenTelemetry's conventions for generative AI.
pub(crate) const GEN_AI: &str = "gen_ai.";

/// The name of a span for OpenTelemetry, where `tracing` needs one that is known at compile time.
pub(crate) const OTEL_NAME: &str = "otel.name";

/// Whether a span or event is about generative AI.
pub(crate) fn is_gen_ai(metadata: &Metadata<'_>) -> bool {
    let is_sign = |name: &str| name.starts_with(GEN_AI) || SIGNS.contains(&name);
    metadata.name().starts_with(GEN_AI) || metadata.fields().iter().any(|field| is_sign(field.name()))
}

/// Whether an event may be one of the older conventions, named by a field.
pub(crate) fn has_name(metadata: &Metadata<'_>) -> bool {
    metadata.fields().iter().any(|field| field.name() == "event.name")
}

/// Collects fields into an object.
pub(crate) struct FieldCollector<'a>(pub(crate) &'a mut Object);

impl FieldCollector<'_> {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for FieldCollector<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}
