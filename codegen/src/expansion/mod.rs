//! From a binding to code and problems: what the macro, `generate()` and `cargo evalsuite expand` share.
//!
//! Each phase is a type in and a type out: the suite of a binding in its context is loaded (`TakenSuite`), the binding is checked
//! against it, and both become an `Expansion`. `Reports` collects the problems of all phases.

mod registrations;
mod reports;
mod suite_checks;
mod taken_suite;
mod tokens;

use std::path::{Path, PathBuf};

use evalsuite_loader::{Loaded, LoadedSuite, Request};
use evalsuite_schema::Requires;
use proc_macro2::TokenStream;
use quote::quote;
use reports::Reports;
use taken_suite::{Purpose, TakenSuite};

use crate::binding::{self, Binding, Problem};
use crate::embed::Embedded;
use crate::statics::Body;
use crate::suite_facts::SuiteFacts;

pub use crate::cache::CacheLocation;
pub use reports::compiler_message;
pub use tokens::{compile_error, warning};

/// Where a binding is used: what the package, the compiler and the command line say about it.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where the suite is.
    pub request: Request,
    /// The source file with the call, in which an agent without a path has to be; `None` if it is not known.
    pub source_file: Option<PathBuf>,
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
        Self {
            request,
            source_file: None,
            cache: None,
            deny_warnings: false,
            all_graders_listed: true,
            all_judges_listed: true,
        }
    }
}

/// The code for a binding and the problems with it.
pub struct Expansion {
    binding: Binding,
    /// Name of the module.
    pub module: String,
    pub(crate) code: SuiteCode,
    problems: Vec<Problem>,
    /// Names and one-line texts of all warnings that are not allowed.
    pub(crate) recorded_warnings: Vec<(String, String)>,
    /// Every file that was read.
    pub files: Vec<PathBuf>,
    /// How the suite was loaded, as code.
    origin: TokenStream,
}

/// What the code of a suite is made of.
pub(crate) struct SuiteCode {
    /// What the suite says; `None` if it cannot be used.
    facts: Option<SuiteFacts>,
    body: Body,
    /// The files that cases need; `None` if they are not embedded.
    pub(crate) embedded: Option<Embedded>,
    /// Errors of a program that is built without a feature, with the macros of evalsuite that know the features.
    feature_errors: Vec<(&'static str, Problem)>,
}

/// Loads the suite of a binding, or takes it from the cache, and checks the binding against it. `problems` are
/// those of the binding that the caller has found; with an error the suite is empty.
pub fn expand(binding: Binding, context: &Context, problems: Vec<Problem>) -> Expansion {
    let mut reports = Reports::new(&binding, context, problems);
    let taken = taken_suite::take(&mut reports);
    let TakenSuite { module, code, files, .. } = suite_checks::check(taken, &mut reports);
    let code = if reports.has_errors() { SuiteCode::empty() } else { code };
    let Reports { problems, recorded_warnings, .. } = reports;
    let problems = binding::limited(problems, &binding.entry);
    let origin = origin(&binding, context);
    Expansion { binding, module, code, problems, recorded_warnings, files, origin }
}

/// What [`expand`] finds out, for `cargo evalsuite check`: all problems, and the suite if it can be used.
pub fn check(binding: Binding, context: &Context) -> (Vec<Problem>, Option<LoadedSuite>) {
    let loaded = evalsuite_loader::load(&suite_request(&binding, context));
    check_loaded(binding, context, loaded)
}

/// What [`check`] finds out about a suite that the caller has loaded, as [`suite_request`] asks for it.
pub fn check_loaded(binding: Binding, context: &Context, loaded: Loaded) -> (Vec<Problem>, Option<LoadedSuite>) {
    let mut reports = Reports::new(&binding, context, Vec::new());
    let taken = taken_suite::of_loaded(loaded, Purpose::Check, &mut reports);
    let suite = suite_checks::check(taken, &mut reports).loaded.filter(|_| !reports.has_errors());
    (reports.problems, suite)
}

/// What a binding loads.
pub fn suite_request(binding: &Binding, context: &Context) -> Request {
    let mut request = context.request.clone();
    request.targets = binding::values(&binding.targets);
    request.fixtures = binding.fixtures;
    request.allow_docker |= binding.allows(binding::UNSUPPORTED_DOCKER);
    request
}

/// How a suite was loaded, as the constant `__ORIGIN`: a program with the feature `reload` loads it in the same way. It is `None` in a
/// program that cannot load suites.
fn origin(of_binding: &Binding, context: &Context) -> TokenStream {
    let request = &context.request;
    let entry = &request.entry;
    // Directory of the source file that names the entry, relative to the package's where it is inside.
    let source_dir = match request.source_dir.as_ref().filter(|_| entry.starts_with("./")) {
        Some(directory) => {
            let directory = directory.strip_prefix(&request.package_root).unwrap_or(directory).to_string_lossy();
            quote!(::core::option::Option::Some(#directory))
        }
        None => quote!(::core::option::Option::None),
    };
    let [targets, allow, require_env, require_commands] =
        [&of_binding.targets, &of_binding.allow, &of_binding.require_env, &of_binding.require_commands]
            .map(|literals| binding::values(literals));
    let fixtures = of_binding.fixtures;
    let allow_docker = of_binding.allows(binding::UNSUPPORTED_DOCKER);
    let deny_warnings = context.deny_warnings || of_binding.deny_warnings;
    let has_tests = of_binding.has_tests();
    quote! {
        const __ORIGIN: ::core::option::Option<&__evalsuite::__private::Origin> = __evalsuite::__origin! {
            __evalsuite::__private::Origin {
            entry: #entry,
            source_dir: #source_dir,
            targets: &[#(#targets),*],
            fixtures: #fixtures,
            require_env: &[#(#require_env),*],
            require_commands: &[#(#require_commands),*],
            allow: &[#(#allow),*],
            allow_docker: #allow_docker,
            deny_warnings: #deny_warnings,
            lists_graders: #has_tests,
            files: &__texts::FILES,
            }
        };
    }
}

fn requires(binding: &Binding) -> Requires {
    Requires { env: binding::values(&binding.require_env), commands: binding::values(&binding.require_commands) }
}

impl SuiteCode {
    /// A suite without cases, for code that uses the suite.
    fn empty() -> Self {
        Self { facts: None, body: Body::empty(), embedded: None, feature_errors: Vec::new() }
    }
}

impl Expansion {
    /// All problems, in the order in which they are reported.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether a problem fails the build.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    /// Leaves the embedded files as one archive below `out_dir`, and names the files that the code includes.
    pub fn archive(&mut self, out_dir: &Path) {
        let Some(embedded) = self.code.embedded.take() else { return };
        self.files.extend(embedded.files.files());
        match embedded.into_archive(out_dir, &format!("evalsuite/{}.embedded", self.module)) {
            Ok(embedded) => self.code.embedded = Some(embedded),
            Err(error) => {
                let message = format!("the files that cases need cannot be embedded: {error}");
                self.problems.push(Problem::argument(self.binding.span(), message));
                self.code = SuiteCode::empty();
            }
        }
    }
}
