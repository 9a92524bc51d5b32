//! The program `cargo-evalsuite`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_evalsuite::main()
}
