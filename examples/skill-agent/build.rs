//! Lets cargo notice added, renamed and removed evals.

fn main() {
    evalsuite_build::track("skills");
}
