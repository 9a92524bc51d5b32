//! The directories of runs: their layout, and their files.

mod layout;
mod output_directory;
mod run_file;

pub use self::layout::*;
pub use self::output_directory::{OutputDirectory, StoredRun};
pub use self::run_file::{
    open_regular_file, open_run_file, read_json, read_json_below, read_run_file, read_run_record, read_text,
    run_directory_entries, sorted_directories,
};
