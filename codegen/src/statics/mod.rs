//! A checked suite as the text of a `static` and of test functions.

mod suite_static;
mod suite_texts;
mod test_functions;

use evalsuite_loader::LoadedSuite;

pub(crate) use suite_texts::{SuiteTexts, case_line, files, json_of};

use crate::rust_literals;

/// The code that depends on nothing but the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    /// The `static` suite.
    pub(crate) statics: String,
    /// What the files say.
    pub(crate) texts: SuiteTexts,
    /// The tests, without `suite_check`.
    pub(crate) tests: String,
}

impl Body {
    /// The code of a checked suite.
    pub(crate) fn new(suite: &LoadedSuite) -> serde_json::Result<Self> {
        // Growing in steps would copy the text several times.
        let statics = String::with_capacity(512 * (suite.tests.len() + 1));
        let mut body = Self { statics, texts: SuiteTexts::new(suite)?, tests: String::new() };
        suite_static::push(&mut body.statics, suite)?;
        test_functions::push(&mut body.tests, suite);
        Ok(body)
    }

    /// A suite without cases and tests, for code that uses a suite which cannot be loaded.
    pub(crate) fn empty() -> Self {
        let mut statics = String::new();
        suite_static::push_empty(&mut statics);
        Self { statics, texts: SuiteTexts::default(), tests: String::new() }
    }

    /// The texts that hold the suite and its cases as JSON.
    pub(crate) fn json(&self) -> [&str; 3] {
        [&self.statics, &self.texts.suite, &self.texts.cases]
    }

    /// The tests, ignored if there is a reason to.
    pub(crate) fn tests(&self, ignore: Option<&str>) -> String {
        let Some(reason) = ignore else { return self.tests.clone() };
        let reason = rust_literals::string_literal(reason);
        self.tests.replace("#[test]", &format!("#[test]\n#[ignore = {reason}]"))
    }
}
