//! Lists the files that define the cases of a suite, knows the names of suite files, and finds the workspace around a suite.
//!
//! The loader asks while the crate compiles; the generated test `suite_check` asks again when it runs. Both get the same
//! answer because the rules are here and nowhere else. What the files contain is the business of the loader.

mod cargo_workspace;
mod case_files;
mod listing;
mod pattern;
mod spelling;
mod suite_files;
mod symlinks;
#[cfg(test)]
mod tests;

pub use cargo_workspace::{workspace_around, workspace_root};
pub use case_files::{CASE_FILES, DataFiles, data_files, is_case_file, list, skills_below};
pub use listing::{Listing, MAX_DEPTH, MAX_VISITED, Problem, ProblemKind, Tree};
#[doc(hidden)]
pub use listing::{in_parts, processors};
pub use pattern::{Pattern, is_glob};
#[doc(hidden)]
pub use spelling::normalize;
pub use spelling::{has_name_of_disk, has_names_of_disk, with_slashes};
pub use suite_files::{
    SKILL_EVALS, SKILL_FILE, SuiteFile, calibration_names, is_skill, skill_directory, stem, suite_files,
};
pub use symlinks::{DirectoryLink, directory_links};
