//! A checked suite as Rust code. The macro, `generate()` and `cargo evalsuite expand` all print what is made here.

mod literal;
mod suite_static;
mod test_functions;

use std::path::Path;

use evalsuite_loader::LoadedSuite;

use crate::embed::Embedded;

/// Lints that names taken from files, or code that nobody calls in this build, would set off in the user's crate.
const QUIET: &str = "#[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction, dead_code, non_snake_case, \
                     unreachable_pub, unused_qualifications)]\n";

/// The agent of `agent = "cli"`.
pub const COMMANDS: &str = "::evalsuite::CliAgents";

/// What of the code depends on nothing but the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The `static` suite.
    pub statics: String,
    /// The tests, without `suite_check`.
    pub tests: String,
}

impl Body {
    /// The code of a checked suite.
    ///
    /// # Errors
    ///
    /// If a part of the suite cannot be written as JSON.
    pub fn new(suite: &LoadedSuite) -> serde_json::Result<Self> {
        // A case takes about its JSON and 300 bytes more; growing in steps would copy it several times.
        let mut body = Self { statics: String::with_capacity(1024 * (suite.tests.len() + 1)), tests: String::new() };
        suite_static::push(&mut body.statics, suite)?;
        test_functions::push(&mut body.tests, suite);
        Ok(body)
    }

    /// A suite without cases and tests, for code that uses a suite which cannot be loaded.
    pub fn empty() -> Self {
        let mut statics = String::new();
        suite_static::push_empty(&mut statics);
        Self { statics, tests: String::new() }
    }
}

/// The module of a suite.
#[derive(Debug, Clone, Copy)]
pub struct Module<'a> {
    /// Its name.
    pub name: &'a str,
    /// The suite.
    pub body: &'a Body,
    /// Whether the function of [`binding_name`] stands beside the module; without it there are neither `evals` nor tests.
    pub bound: bool,
    /// Whether the suite can be checked: `false` for a suite that cannot be loaded.
    pub checked: bool,
    /// Why the tests are ignored.
    pub ignore: Option<&'a str>,
    /// The files that cases need.
    pub embedded: &'a Embedded,
    /// The warnings about the suite: their names and texts of one line.
    pub diagnostics: &'a [(String, String)],
}

impl Module<'_> {
    /// The code.
    pub fn to_code(&self) -> String {
        let mut code = String::with_capacity(self.body.statics.len() + self.body.tests.len() + 1024);
        code.push_str("/// An evaluation suite.\n");
        code.push_str(QUIET);
        code.push_str("pub mod ");
        code.push_str(self.name);
        code.push_str(" {\n");
        code.push_str("const __EMBEDDED: ::core::option::Option<&[(&str, &[u8])]> = ");
        code.push_str(&self.embedded.expression());
        code.push_str(";\nconst __DIAGNOSTICS: &[(&str, &str)] = &[");
        for (name, text) in self.diagnostics {
            code.push_str(&format!("({}, {}), ", string_literal(name), string_literal(text)));
        }
        code.push_str("];\n");
        code.push_str(&self.body.statics);
        if self.bound {
            self.push_bound(&mut code);
        }
        code.push_str("}\n");
        code
    }

    fn push_bound(&self, code: &mut String) {
        code.push_str("/// The suite with its agent and graders.\npub fn evals() -> ::evalsuite::Evals {\nsuper::");
        code.push_str(&binding_name(self.name));
        code.push_str("(::evalsuite::Evals::new(&SUITE))\n}\n");
        code.push_str("#[cfg(test)]\nfn __run(case: usize) {\n::evalsuite::__private::run_case(evals, case)\n}\n");
        match self.ignore {
            Some(reason) => {
                let mut attributes = "#[test]\n#[ignore = ".to_owned();
                literal::push_str(&mut attributes, reason);
                attributes.push(']');
                code.push_str(&self.body.tests.replace("#[test]", &attributes));
            }
            None => code.push_str(&self.body.tests),
        }
        if self.checked {
            code.push_str("#[test]\nfn suite_check() {\n::evalsuite::__private::suite_check(evals)\n}\n");
        }
    }
}

/// Name of the function beside the module that names the agent and the graders. They have to be named outside of the
/// module, where the caller's names are in scope; in a function body this name is what rustc does not find.
pub fn binding_name(module: &str) -> String {
    format!("include_eval_suite_belongs_outside_of_functions__{}", module.strip_prefix("r#").unwrap_or(module))
}

/// Makes rustc build again when one of `files` changes or is deleted.
pub fn trackers<'a>(files: impl IntoIterator<Item = &'a Path>) -> String {
    let mut code = String::new();
    for path in files.into_iter().filter_map(Path::to_str) {
        code.push_str("const _: &[u8] = ::core::include_bytes!(");
        literal::push_str(&mut code, path);
        code.push_str(");\n");
    }
    code
}

/// The function beside the module up to its body, which takes `evals` and returns it with agent and graders.
pub fn binding_head(module: &str) -> String {
    let name = binding_name(module);
    format!("#[doc(hidden)]\n{QUIET}fn {name}(evals: ::evalsuite::Evals) -> ::evalsuite::Evals")
}

/// A list of string literals.
pub fn list(texts: &[String]) -> String {
    let literals: Vec<String> = texts.iter().map(|text| string_literal(text)).collect();
    format!("[{}]", literals.join(", "))
}

/// A string literal with this text.
pub fn string_literal(text: &str) -> String {
    let mut out = String::new();
    literal::push_str(&mut out, text);
    out
}
