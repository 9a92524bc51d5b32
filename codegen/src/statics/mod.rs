//! A checked suite as the text of a `static` and of test functions.

mod suite_static;
mod test_functions;

use evalsuite_loader::LoadedSuite;

#[cfg(feature = "expand")]
use crate::rust_literals;

/// The code that depends on nothing but the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    /// The `static` suite.
    pub(crate) statics: String,
    /// The tests, without `suite_check`.
    pub(crate) tests: String,
}

impl Body {
    /// The code of a checked suite.
    ///
    /// # Errors
    ///
    /// If a part of the suite cannot be written as JSON.
    pub(crate) fn new(suite: &LoadedSuite) -> serde_json::Result<Self> {
        // A case takes about its JSON and 300 bytes more; growing in steps would copy it several times.
        let mut body = Self { statics: String::with_capacity(1024 * (suite.tests.len() + 1)), tests: String::new() };
        suite_static::push(&mut body.statics, suite)?;
        test_functions::push(&mut body.tests, suite);
        Ok(body)
    }

    /// A suite without cases and tests, for code that uses a suite which cannot be loaded.
    #[cfg(feature = "expand")]
    pub(crate) fn empty() -> Self {
        let mut statics = String::new();
        suite_static::push_empty(&mut statics);
        Self { statics, tests: String::new() }
    }

    /// The tests, ignored if there is a reason to.
    #[cfg(feature = "expand")]
    pub(crate) fn tests(&self, ignore: Option<&str>) -> String {
        let Some(reason) = ignore else { return self.tests.clone() };
        let mut attributes = "#[test]\n#[ignore = ".to_owned();
        rust_literals::push_str(&mut attributes, reason);
        attributes.push(']');
        self.tests.replace("#[test]", &attributes)
    }
}
