//! From a binding to code and problems: what the macro, `generate()` and `cargo evalsuite expand` share.

mod context;
mod judges;
mod module_name;
mod origin;
mod targets;
mod targets_file;
mod tokens;

use std::path::PathBuf;

use evalsuite_loader::source::Files;
use evalsuite_loader::{Loaded, LoadedSuite, Request, load_targets, registered_graders, render};
use evalsuite_schema::Requires;
use evalsuite_schema::diagnostic::{Code, Diagnostic, Severity, SourceRange};
use origin::Origin;

use crate::binding::{Agent, Binding, Problem};
use crate::cache::{Cache, CachedSuite};
use crate::embed::Embedded;
use crate::statics::Body;
use crate::suite_facts::SuiteFacts;
use crate::{allowed_warnings, binding, embed};

pub use context::{CacheLocation, Context};
pub use tokens::{compile_error, warning};

/// The code for a binding and the problems with it.
pub struct Expansion {
    binding: Binding,
    /// Name of the module.
    pub module: String,
    /// What the suite says; `None` if it cannot be used.
    facts: Option<SuiteFacts>,
    body: Body,
    /// The suite, if there is no cache.
    loaded: Option<LoadedSuite>,
    pub(crate) embedded: Embedded,
    problems: Vec<Problem>,
    /// The error of a program that is built without the feature `json-schema`.
    without_json_schema: Option<Problem>,
    /// The error of a program that is built without the feature `cli-agents`.
    without_cli_agents: Option<Problem>,
    /// Names and one-line texts of all warnings that are not allowed.
    pub(crate) recorded_warnings: Vec<(String, String)>,
    /// Every file that was read.
    pub files: Vec<PathBuf>,
    /// How the suite was loaded.
    origin: Origin,
}

/// Loads the suite of a binding, or takes it from the cache, and checks the binding against it. `problems` are
/// those of the binding that the caller has found; with an error the suite is empty.
pub fn expand(binding: Binding, context: &Context, problems: Vec<Problem>) -> Expansion {
    let mut expansion = checked(binding, context, problems, Purpose::Code);
    expansion.finish();
    expansion
}

/// What [`expand`] finds out, for `cargo evalsuite check`: all problems, and the suite if it can be used.
pub fn check(binding: Binding, context: &Context) -> (Vec<Problem>, Option<LoadedSuite>) {
    let mut expansion = checked(binding, context, Vec::new(), Purpose::Check);
    let suite = expansion.loaded.take().filter(|_| !expansion.has_errors());
    (expansion.problems, suite)
}

/// What [`check`] finds out about a suite that the caller has loaded, as [`suite_request`] asks for it.
pub fn check_loaded(binding: Binding, context: &Context, loaded: Loaded) -> (Vec<Problem>, Option<LoadedSuite>) {
    let mut expansion = Expansion::new(binding, context, Vec::new());
    let is_valid = !expansion.has_errors();
    let registered = expansion.registered(context);
    expansion.take_loaded(loaded, context, registered.as_deref(), Purpose::Check);
    expansion.finish_check(context, is_valid);
    let suite = expansion.loaded.take().filter(|_| !expansion.has_errors());
    (expansion.problems, suite)
}

fn checked(binding: Binding, context: &Context, problems: Vec<Problem>, purpose: Purpose) -> Expansion {
    let mut expansion = Expansion::new(binding, context, problems);
    let is_valid = !expansion.has_errors();
    let registered = expansion.registered(context);
    let request = suite_request(&expansion.binding, context);
    let location = context.cache.as_ref().filter(|_| requires(&expansion.binding) == Requires::default());
    let cache = location.and_then(|location| Cache::of(location, &request));
    // Other graders than the registered ones are problems with places, which take the loaded suite.
    let agrees = |suite: &CachedSuite| {
        registered.as_deref().is_none_or(|registered| registered_graders::agree(registered, &suite.graders))
    };
    let found = cache.as_ref().and_then(Cache::find);
    let outdated = cache.as_ref().filter(|_| found.is_none());
    match found.filter(agrees) {
        Some(suite) => expansion.take_cached(suite, context),
        None => {
            let loaded = evalsuite_loader::load(&request);
            match outdated.and_then(|cache| cache.store(&loaded)).filter(agrees) {
                Some(suite) => expansion.take_cached(suite, context),
                None => expansion.take_loaded(loaded, context, registered.as_deref(), purpose),
            }
        }
    }
    expansion.finish_check(context, is_valid);
    expansion
}

/// What a binding loads.
pub fn suite_request(binding: &Binding, context: &Context) -> Request {
    let mut request = context.request.clone();
    request.targets = binding::values(&binding.targets);
    request.fixtures = binding.fixtures;
    request.allow_docker |= binding.allows(allowed_warnings::DOCKER);
    request
}

fn requires(binding: &Binding) -> Requires {
    Requires { env: binding::values(&binding.require_env), commands: binding::values(&binding.require_commands) }
}

impl Expansion {
    fn new(binding: Binding, context: &Context, mut problems: Vec<Problem>) -> Self {
        problems.extend(binding.problems());
        Self {
            module: module_name::of_entry(&context.request.entry),
            binding,
            facts: None,
            body: Body::empty(),
            loaded: None,
            embedded: Embedded::Off,
            problems,
            without_json_schema: None,
            without_cli_agents: None,
            recorded_warnings: Vec::new(),
            files: Vec::new(),
            origin: Origin::of(context),
        }
    }

    /// All problems, in the order in which they are reported.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether a problem fails the build.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    fn take_cached(&mut self, suite: CachedSuite, context: &Context) {
        self.module = suite.module;
        self.files = suite.files;
        self.body = suite.body;
        self.facts = Some(suite.facts);
        if self.binding.embed {
            self.embedded = suite.embedded;
        }
        for warning in suite.warnings {
            if self.binding.embed || warning.code != Code::NotEmbedded {
                self.add(context, warning);
            }
        }
    }

    /// The graders of the binding, if it lists all. A list with a mistake in it cannot tell which graders are missing.
    fn registered(&self, context: &Context) -> Option<Vec<String>> {
        let is_listed = context.all_graders_listed && self.binding.has_tests() && !self.has_errors();
        is_listed.then(|| binding::names(&self.binding.graders))
    }

    fn take_loaded(&mut self, loaded: Loaded, context: &Context, registered: Option<&[String]>, purpose: Purpose) {
        let Loaded { suite, user_graders, mut diagnostics, files, .. } = loaded;
        if let Some(registered) = registered {
            diagnostics.append(registered_graders::unknown(registered, &user_graders, &files));
            diagnostics.sort();
        }
        self.add_all(context, diagnostics.grouped());
        self.files = files.all().into_iter().filter(|file| file.digest.is_some()).map(|file| file.path).collect();
        let Some(mut suite) = suite else { return };
        self.module.clone_from(&suite.module);
        let entry = &context.request.entry;
        let unused = registered.map(|registered| registered_graders::unused(registered, &user_graders, entry));
        self.add_all(context, unused.into_iter().flatten());
        suite.require(&requires(&self.binding));
        match self.write(&suite, context, &files, purpose) {
            Ok(()) => self.facts = Some(SuiteFacts::new(&suite)),
            Err(error) => self.add_argument_problem(format!("the suite cannot be written as JSON: {error}")),
        }
        self.loaded = Some(suite);
    }

    /// Writes the suite as code, and takes the files that it embeds. A check only looks at these files.
    fn write(
        &mut self,
        suite: &LoadedSuite,
        context: &Context,
        files: &Files,
        purpose: Purpose,
    ) -> serde_json::Result<()> {
        match purpose {
            Purpose::Code => {
                let body = Body::new(suite)?;
                self.embed(&body.json(), suite, context, files);
                self.body = body;
            }
            Purpose::Check if self.binding.embed => {
                let named = suite.cases.iter().filter(|loaded| !loaded.stands_alone);
                let cases = named.map(|loaded| serde_json::to_string(&*loaded.case));
                let texts: Vec<String> =
                    cases.chain([serde_json::to_string(&suite.suite)]).collect::<serde_json::Result<_>>()?;
                self.embed(&texts, suite, context, files);
            }
            Purpose::Check => {}
        }
        Ok(())
    }

    fn embed(&mut self, texts: &[impl AsRef<str>], suite: &LoadedSuite, context: &Context, files: &Files) {
        if self.binding.embed && !self.has_errors() {
            match embed::gather(texts, suite, &context.request, files) {
                Ok(contents) => self.embedded = Embedded::Files(contents),
                Err(problem) => self.add(context, *problem),
            }
        }
    }

    /// Checks the binding against the suite that was taken. `is_valid`: the binding has no problems by itself.
    fn finish_check(&mut self, context: &Context, is_valid: bool) {
        if let Some(name) = &self.binding.name {
            self.module = name.to_string();
        }
        self.check(context, is_valid);
        self.use_targets_file(context);
        self.check_features();
    }

    /// Checks the binding against what the suite says. The judges and commands of an invalid binding are not known.
    fn check(&mut self, context: &Context, is_valid: bool) {
        let Some(facts) = &self.facts else { return };
        let mut problems = targets::unknown(&self.binding, facts);
        let is_by_name = matches!(self.binding.agent, Agent::ByName) && !targets::all_have_agents(&self.binding, facts);
        if is_by_name && let Err(name) = targets::agent_function(facts) {
            let message = format!(
                "the suite's `agent_name` is `{name}`, which is not a valid function name; name the agent: `agent = my_agent`"
            );
            problems.push(Problem::argument(self.binding.span(), message));
        }
        problems.extend(module_name::hidden_paths(&self.binding, &self.module));
        if is_valid {
            let targets_file = targets_file::missing(&self.binding, context, facts);
            let unknown_judges = judges::unknown(&self.binding, context, facts);
            self.add_all(context, targets_file.into_iter().chain(unknown_judges));
        }
        self.problems.extend(problems);
    }

    /// Checks the targets file of agents and judges that are commands, and embeds it with their directories.
    fn use_targets_file(&mut self, context: &Context) {
        let facts = self.facts.as_ref();
        let has_agents = targets_file::has_agents(&self.binding, facts);
        let has_judges =
            context.all_judges_listed && self.binding.has_tests() && judges::are_commands(&self.binding, facts);
        if !has_agents && !has_judges {
            return;
        }
        let Some(Some(file)) = targets_file::find(&context.request) else { return };
        if !has_agents {
            self.without_cli_agents = Some(self.needs_cli_agents("judges"));
        }
        let loaded = load_targets(&file, &context.request);
        if has_agents {
            let place = SourceRange::whole(loaded.files.shown(&file));
            let used: Vec<&str> = facts.map(|facts| targets_file::entries(facts).collect()).unwrap_or_default();
            let undefined = match (&loaded.targets, facts) {
                (Some(_), Some(facts)) => targets_file::undefined(&loaded, &place, &self.binding, facts),
                _ => Vec::new(),
            };
            self.add_all(context, loaded.problems_of(used).grouped().into_iter().chain(undefined));
        }
        if self.binding.embed && !matches!(self.embedded, Embedded::Off) {
            match embed::command_files(&file, &loaded, &context.request) {
                Ok(contents) => self.embedded.add(contents),
                Err(problem) => self.add(context, *problem),
            }
        }
        self.files.push(file);
    }

    /// An error, for a build without that feature, about `agents` or `judges` of a targets file.
    fn needs_cli_agents(&self, who: &str) -> Problem {
        let who = format!("{who} that are commands of a targets file");
        Problem::diagnostic(self.binding.span(), registered_graders::missing_feature(&who, "cli-agents"))
    }

    /// An error, for a build without that feature, about graders that need a feature of evalsuite.
    fn check_features(&mut self) {
        let Some(facts) = self.facts.as_ref().filter(|_| self.binding.has_tests()) else { return };
        let problem = registered_graders::without_json_schema(&facts.json_schemas);
        self.without_json_schema = problem.map(|problem| Problem::diagnostic(self.binding.span(), problem));
    }

    fn add_all(&mut self, context: &Context, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.add(context, diagnostic));
    }

    fn add(&mut self, context: &Context, diagnostic: Diagnostic) {
        let name = diagnostic.code.name();
        let is_warning = diagnostic.severity() == Severity::Warning;
        let is_denied = self.binding.deny_warnings || context.deny_warnings;
        if is_warning && self.binding.allows(name) {
            return;
        }
        if is_warning && !is_denied {
            self.recorded_warnings.push((name.to_owned(), render::short(&diagnostic)));
        }
        let problem = Problem::diagnostic(self.binding.span(), diagnostic);
        self.problems.push(if is_denied { problem.denied() } else { problem });
    }

    /// Leaves a suite without cases, for code that uses the suite.
    fn make_empty(&mut self) {
        self.facts = None;
        self.without_json_schema = None;
        self.without_cli_agents = None;
        self.body = Body::empty();
        self.embedded = Embedded::Off;
    }

    /// Adds an error that has no code.
    fn add_argument_problem(&mut self, message: String) {
        self.problems.push(Problem::argument(self.binding.span(), message));
    }

    /// Leaves an empty suite if there is an error, and not more problems than are reported.
    fn finish(&mut self) {
        if self.has_errors() {
            self.make_empty();
        }
        self.problems = binding::limited(std::mem::take(&mut self.problems), &self.binding.entry);
    }

    /// Leaves the embedded files as one archive below `out_dir`, and names the files that the code includes.
    pub fn archive(&mut self, out_dir: &std::path::Path) {
        self.files.extend(self.embedded.included());
        let name = format!("evalsuite/{}.embedded", self.module);
        match std::mem::take(&mut self.embedded).into_archive(out_dir, &name) {
            Ok(embedded) => self.embedded = embedded,
            Err(error) => {
                self.add_argument_problem(format!("the files that cases need cannot be embedded: {error}"));
                self.make_empty();
            }
        }
    }
}

/// What a suite is loaded for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    /// To be written as code.
    Code,
    /// To find out what is wrong with it.
    Check,
}
