//! An agent that repairs small Rust programs by generating changes and keeping the one that passes the tests.
//!
//! It compiles a program with its tests, reads what the compiler or the failing tests say, and derives candidates from
//! that: the compiler's own suggestions, other operators at suspicious lines, an error passed on in place of a panic, a
//! missing arm modelled on the others. Candidates are compiled together, as modules of one crate, and the first that
//! passes every test is written. Without one the program stays as it is, and the answer says so.
//!
//! ```no_run
//! use repair_agent::{Repair, Silent};
//!
//! # fn example() -> Result<(), repair_agent::RepairError> {
//! let report = Repair::new("broken", "program.rs").run(&mut Silent)?;
//! println!("{report}");
//! # Ok(())
//! # }
//! ```

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
mod trying;

pub use error::RepairError;
pub use observer::{Observer, Silent, Step};
pub use repair::Repair;
pub use report::{Report, Verdict};
