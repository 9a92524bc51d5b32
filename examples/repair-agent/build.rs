//! Lets cargo see evaluation cases that are added, renamed or removed.

fn main() {
    evalsuite_build::track("suites");
}
