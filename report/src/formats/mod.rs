//! Runs in the formats of other programs: one file each.

mod annotations;
mod csv;
mod junit;
mod markdown;

pub use self::annotations::annotations;
pub use self::csv::csv;
pub use self::junit::junit;
pub use self::markdown::{MARKDOWN_LIMIT, markdown};
