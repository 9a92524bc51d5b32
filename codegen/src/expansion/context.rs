//! Where a binding is used.

use std::path::PathBuf;

use evalsuite_loader::Request;

/// Where a binding is used: what the package, the compiler and the command line say about it.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where the suite is.
    pub request: Request,
    /// OUT_DIR of the package's build script, which may hold the suite.
    pub out_dir: Option<PathBuf>,
    /// Whether warnings are errors, whatever the binding says.
    pub deny_warnings: bool,
    /// Whether the binding lists all graders: then one that is not listed is an error.
    pub all_graders_listed: bool,
    /// Whether the binding lists all judges.
    pub all_judges_listed: bool,
}

impl Context {
    /// A complete binding without a build script.
    pub fn new(request: Request) -> Self {
        Self { request, out_dir: None, deny_warnings: false, all_graders_listed: true, all_judges_listed: true }
    }
}
