//! Ids of runs, which are names of directories.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::platform::clock::compact_timestamp;
use crate::platform::digest::{safe, sha256, usable};
use crate::platform::process::cargo_parent::CargoParent;

/// The run id that the user or the test runner gives, else the one of the cargo process that started this test program: all test programs of
/// one `cargo test` are one run. Without either, the one of this process.
pub(crate) fn run_id(given: Option<&str>) -> String {
    static OWN: OnceLock<String> = OnceLock::new();
    match given {
        Some(id) => directory_name(id),
        None => OWN.get_or_init(|| CargoParent::find().map_or_else(new_run_id, |cargo| of_cargo(&cargo))).clone(),
    }
}

/// The run id as the name of its directory, in which characters other than ASCII letters, digits, `-`, `_` and `.` become `_`. A name that Windows
/// does not take gets a `_` too.
/// Without an id, a new one.
pub fn run_id_or_new(id: Option<&str>) -> String {
    id.map_or_else(new_run_id, directory_name)
}

fn directory_name(id: &str) -> String {
    usable(safe(id))
}

/// The time when cargo started and 6 hexadecimal digits that no other process of cargo has.
fn of_cargo(cargo: &CargoParent) -> String {
    let digest = sha256(cargo.identity());
    format!("{}-{}", compact_timestamp(cargo.started), &digest[..6])
}

/// An id that no other run has: the time and 6 random hexadecimal digits.
pub(crate) fn new_run_id() -> String {
    // The standard library's hash keys are random, and others every time.
    let random = RandomState::new().build_hasher().finish();
    format!("{}-{:06x}", compact_timestamp(SystemTime::now()), random & 0x00ff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_cannot_lead_out_of_its_directory() {
        let id = |text: &str| run_id(Some(text));
        assert_eq!(id("../x y"), ".._x_y");
        assert_eq!(id(".."), "__");
        assert_eq!((id("con").as_str(), id("run.").as_str()), ("_con", "run_"), "as on every other system");
        assert_ne!(new_run_id(), new_run_id());
        assert_eq!(new_run_id().len(), "20260104T091500Z-4be1f0".len());
    }
}
