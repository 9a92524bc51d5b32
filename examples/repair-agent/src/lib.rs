//! An agent that repairs small Rust programs by generating changes and keeping the one that passes the tests.
//!
//! It compiles a program with its tests, reads the output of the compiler or of the failing tests, and derives candidates
//! from it: the compiler's own suggestions, different operators in suspicious lines, an error propagated in place of a
//! panic, a missing arm modelled on the others. Candidates are compiled together, as modules of one crate, and the first
//! that passes every test is written. If there is none, the program is left unchanged, and the answer says so.
//!
//! ```no_run
//! use repair_agent::{Repair, NoObserver};
//!
//! # fn example() -> Result<(), repair_agent::RepairError> {
//! let report = Repair::new("broken", "program.rs").run(&mut NoObserver)?;
//! println!("{report}");
//! # Ok(())
//! # }
//! ```

mod candidate_trials;
mod candidates;
mod diagnosis;
mod error;
mod lexer;
mod observer;
mod program;
mod repair;
mod report;
mod suspicion;
mod toolchain;

pub use error::RepairError;
pub use observer::{NoObserver, Observer, Step};
pub use repair::Repair;
pub use report::{Report, Verdict};
