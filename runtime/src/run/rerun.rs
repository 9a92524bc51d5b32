//! The command line that runs a test again.

/// The command that runs a test again, with the test runner of this process.
pub(crate) fn command(package: &str, test: &str) -> String {
    if std::env::var_os("NEXTEST").is_some() {
        format!("cargo nextest run -p {package} -E 'test(={test})'")
    } else {
        format!("cargo test -p {package} -- --exact {test}")
    }
}
