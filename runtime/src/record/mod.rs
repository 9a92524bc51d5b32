//! The records a run writes.

pub(crate) mod baseline;
pub(crate) mod case_records;
pub(crate) mod cassette;
pub(crate) mod confirming;
pub(crate) mod coordination;
pub(crate) mod embedded_files;
pub(crate) mod grader_files;
#[doc(hidden)]
pub mod run_directory;
pub(crate) mod run_record;
pub(crate) mod statistics;
pub(crate) mod stored_cases;
pub(crate) mod summary;
pub(crate) mod trajectory;

#[doc(hidden)]
pub use self::baseline::{accepted_answers_file, baseline_file, own_baseline_files};
#[doc(hidden)]
pub use self::confirming::{DEFAULT_CONFIRMING, RepeatedCases};
#[doc(hidden)]
pub use self::run_directory::run_id::run_id_or_new;
#[doc(hidden)]
pub use self::statistics::{bounded_interval, t_quantile};
#[doc(hidden)]
pub use self::stored_cases::{ReadDepth, RecordProblem, StoredCase, StoredSuite, StoredTrial, stored_suites};
pub use crate::platform::package_file::read_package_file;
pub use evalsuite_schema::record::*;
