//! Lists the files that define the cases of an [evalsuite](https://docs.rs/evalsuite) suite, knows the names of suite files, and finds the workspace around it.
//!
//! The loader asks while the crate compiles; the generated test `suite_check` asks again when it runs. Both get the same
//! answer because the rules are here and nowhere else.

mod calibration;
mod cargo_workspace;
mod case_files;
mod data_files;
mod directories;
mod directory_links;
mod glob;
mod listing;
mod parts;
mod pattern;
mod skill_directories;
mod slashes;
mod spelling;
mod suite_files;
mod tree;

pub use calibration::{calibration_names, stem};
pub use cargo_workspace::{workspace_around, workspace_root};
pub use case_files::list;
pub use data_files::{DataFiles, data_files};
pub use directories::{CASE_FILES, is_case_file};
pub use directory_links::{DirectoryLink, directory_links};
pub use glob::is_glob;
pub use listing::{Listing, MAX_DEPTH, MAX_VISITED, Problem, ProblemKind};
#[doc(hidden)]
pub use parts::{in_parts, processors};
pub use pattern::Pattern;
pub use skill_directories::skills_below;
#[doc(hidden)]
pub use slashes::normalize;
pub use slashes::with_slashes;
pub use spelling::{has_name_of_disk, has_names_of_disk};
pub use suite_files::{SKILL_EVALS, SKILL_FILE, SuiteFile, is_skill, skill_directory, suite_files};
pub use tree::Tree;
