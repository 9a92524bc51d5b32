//! Where a binding is used.

use evalsuite_loader::Request;

pub use crate::cache::CacheLocation;

/// Where a binding is used: what the package, the compiler and the command line say about it.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where the suite is.
    pub request: Request,
    /// Where the suite is stored for the next expansion, if anywhere.
    pub cache: Option<CacheLocation>,
    /// Whether warnings are errors, whatever the binding says.
    pub deny_warnings: bool,
    /// Whether the binding lists all graders: then one that is not listed is an error.
    pub all_graders_listed: bool,
    /// Whether the binding lists all judges.
    pub all_judges_listed: bool,
}

impl Context {
    /// A complete binding without a cache.
    pub fn new(request: Request) -> Self {
        Self { request, cache: None, deny_warnings: false, all_graders_listed: true, all_judges_listed: true }
    }
}
