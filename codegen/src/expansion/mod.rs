//! From the options of a call to code and messages: what the macro, `generate()` and `cargo evalsuite expand` share.

mod about;
pub mod allow;
mod graders;
mod judges;
mod messages;
mod options;
pub mod suggest;
mod targets_file;

use std::path::PathBuf;

use evalsuite_loader::source::Files;
use evalsuite_loader::{Loaded, LoadedSuite, names};
use evalsuite_schema::Requires;
use evalsuite_schema::diagnostic::{Code, Diagnostics, Severity};

use crate::cache::Cached;
use crate::embed::{self, Embedded};
use crate::statics::Body;

pub use about::About;
pub(crate) use graders::agree as graders_agree;
pub use graders::registration_problems;
pub use judges::{Judges, Judging, NamedJudge, may_be_commands};
pub use messages::{Message, limited};
pub use options::Options;

/// What became of a suite.
#[derive(Debug)]
pub struct Expansion {
    /// Name of the module.
    pub module: String,
    /// What the suite says; `None` if it cannot be used.
    pub suite: Option<About>,
    /// The code; empty if the suite cannot be used.
    pub body: Body,
    /// Problems that fail the build.
    pub errors: Vec<String>,
    /// Problems that do not.
    pub warnings: Vec<String>,
    /// Every file that was read.
    pub files: Vec<PathBuf>,
    /// The files that cases need.
    pub embedded: Embedded,
    /// All warnings that are not silenced, also those that the build script has shown: their names and texts of one line.
    pub diagnostics: Vec<(String, String)>,
}

/// Loads a suite, or takes it from where the build script left it, and makes code of it.
pub fn expand(options: &Options) -> Expansion {
    let mut expansion = match Cached::find(options) {
        Some(cached) => cached.expand(options),
        None => load(options),
    };
    let suite = expansion.suite.as_ref();
    let missing = targets_file::missing(options, suite).into_iter().chain(judges::unknown(options, suite));
    missing.collect::<Vec<_>>().into_iter().for_each(|warning| expansion.add(options, warning));
    expansion.embed_targets_file(options);
    if !expansion.errors.is_empty() {
        expansion.fail();
    }
    expansion
}

/// Name of the module for an entry path, where the suite says nothing else: its last component without extension.
pub fn module_name(entry: &str) -> String {
    let last = entry.trim_end_matches('/').rsplit('/').next().unwrap_or(entry);
    let stem = match last.rsplit_once('.') {
        Some((stem, "jsonl" | "yaml" | "yml" | "json")) => stem.strip_suffix(".eval").unwrap_or(stem),
        _ => last,
    };
    names::segment(stem)
}

fn load(options: &Options) -> Expansion {
    let mut request = options.request.clone();
    request.allow_docker |= options.allow.iter().any(|name| name == allow::DOCKER);
    let Loaded { suite, user_graders, mut diagnostics, files, .. } = evalsuite_loader::load(&request);
    if let Some(registered) = &options.graders {
        for diagnostic in graders::unknown(registered, &user_graders, &files) {
            diagnostics.push(diagnostic);
        }
    }
    let mut messages = rendered(diagnostics);
    if suite.is_some() {
        messages.extend(unused(options, user_graders.iter().map(|grader| grader.name.as_str())));
    }
    let read = files.all().into_iter().filter(|file| file.digest.is_some()).map(|file| file.path).collect();
    let module = suite.as_ref().map_or_else(|| module_name(&request.entry), |suite| suite.module.clone());
    let mut expansion = Expansion::new(options, module, messages, read);
    if let Some(mut suite) = suite
        && expansion.errors.is_empty()
    {
        require(&mut suite, &options.requires);
        match Body::new(&suite) {
            Ok(body) => {
                expansion.embed(&body, &suite, options, &files);
                if expansion.errors.is_empty() {
                    expansion.body = body;
                    expansion.suite = Some(About::new(&suite));
                }
            }
            Err(error) => expansion.errors.push(format!("the suite cannot be written as JSON: {error}")),
        }
    }
    expansion
}

impl Expansion {
    /// Leaves an empty suite: something outside of its files makes it unusable.
    pub fn fail(&mut self) {
        self.suite = None;
        self.body = Body::empty();
        self.embedded = Embedded::Off;
    }

    fn embed(&mut self, body: &Body, suite: &LoadedSuite, options: &Options, files: &Files) {
        if !options.embed {
            return;
        }
        match embed::gather(body, suite, &options.request, files) {
            Ok(contents) => self.embedded = Embedded::Files(contents),
            Err(problem) => self.add(options, Message::new(&problem)),
        }
    }

    /// Commands travel with the cases they are for.
    fn embed_targets_file(&mut self, options: &Options) {
        let may_judge = |judges| options.bound && judges::are_commands(judges, self.suite.as_ref());
        let has_commands = options.commands.is_some() || options.judges.as_ref().is_some_and(may_judge);
        if !has_commands || !options.embed || matches!(self.embedded, Embedded::Off) {
            return;
        }
        let Some(Some(file)) = targets_file::find(&options.request) else { return };
        match embed::beside(&file, &options.request) {
            Ok(contents) => self.embedded.add(contents),
            Err(problem) => self.add(options, *problem),
        }
    }

    /// An expansion with nothing but messages, sorted into errors and warnings as the options say.
    pub(crate) fn new(options: &Options, module: String, messages: Vec<Message>, files: Vec<PathBuf>) -> Self {
        let module = options.name.clone().unwrap_or(module);
        let mut expansion = Self {
            module,
            suite: None,
            body: Body::empty(),
            errors: Vec::new(),
            warnings: Vec::new(),
            files,
            embedded: Embedded::Off,
            diagnostics: Vec::new(),
        };
        messages.into_iter().for_each(|message| expansion.add(options, message));
        expansion
    }

    fn add(&mut self, options: &Options, message: Message) {
        match message.severity {
            Severity::Warning if options.allow.contains(&message.name) => {}
            Severity::Warning if !options.deny_warnings => {
                self.warnings.push(message.text);
                self.diagnostics.push((message.name, message.short));
            }
            _ => self.errors.push(message.text),
        }
    }
}

pub(crate) fn rendered(mut diagnostics: Diagnostics) -> Vec<Message> {
    diagnostics.sort();
    diagnostics.iter().map(Message::new).collect()
}

/// A warning for every registered grader that no case uses.
pub(crate) fn unused<'u>(options: &Options, used: impl IntoIterator<Item = &'u str>) -> Vec<Message> {
    let registered = options.graders.as_deref().unwrap_or_default();
    graders::unused(registered, used, &options.request.entry)
        .into_iter()
        .map(|text| Message::warning(Code::UnusedGrader.name(), text))
        .collect()
}

fn require(suite: &mut LoadedSuite, requires: &Requires) {
    let add = |list: &mut Vec<String>, more: &[String]| {
        for name in more {
            if !list.contains(name) {
                list.push(name.clone());
            }
        }
    };
    if *requires != Requires::default() {
        for loaded in &mut suite.cases {
            add(&mut loaded.case.requires.env, &requires.env);
            add(&mut loaded.case.requires.commands, &requires.commands);
        }
    }
}
