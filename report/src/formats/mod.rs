//! Runs in the formats of other programs: one file each.

mod annotations;
mod csv;
mod ids;
mod input;
mod inspect;
mod junit;
mod markdown;
mod otel;
mod steps;
mod timeline;
mod trace;

pub use self::annotations::annotations;
pub use self::csv::csv;
pub(crate) use self::input::input_messages;
pub use self::inspect::{InspectFormat, InspectLog, inspect_logs};
pub use self::junit::junit;
pub(crate) use self::markdown::escape;
pub use self::markdown::{MARKDOWN_LIMIT, markdown};
pub use self::otel::otel;
pub use self::steps::content_text;
pub use self::trace::trace;
