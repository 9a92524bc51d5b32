//! Lets cargo notice added, renamed and removed cases.

fn main() {
    evalsuite_build::track("suites");
}
