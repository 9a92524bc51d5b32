//! Judges that a suite's graders ask for.

use evalsuite_loader::LoadedSuite;
use evalsuite_schema::diagnostic::Code;
use evalsuite_schema::grader::AskedJudge;
use evalsuite_schema::{Grader, Location};
use serde::{Deserialize, Serialize};

use super::{About, Message, Options, graders::fold, suggest, targets_file};

/// What a suite's graders want of judges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judging {
    /// Whether any built-in grader asks a judge.
    pub asks: bool,
    /// The judges that graders name, each once.
    pub named: Vec<NamedJudge>,
}

/// A judge that a grader names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedJudge {
    /// Its name.
    pub name: String,
    /// The first grader that names it.
    pub grader: String,
    /// Where that grader stands.
    pub location: Location,
}

impl Judging {
    pub(crate) fn of(suite: &LoadedSuite) -> Self {
        let mut judging = Self::default();
        for loaded in &suite.cases {
            let turns = || loaded.case.conversation.iter().flat_map(|conversation| &conversation.turns);
            let graders = &loaded.case.graders;
            // Without graders, what is expected is judged.
            judging.asks |= graders.is_empty() || turns().any(|turn| turn.graders.is_empty());
            graders.iter().chain(turns().flat_map(|turn| &turn.graders)).for_each(|grader| judging.add(grader));
        }
        judging
    }

    fn add(&mut self, grader: &Grader) {
        for grader in grader.with_members() {
            let Some(judge) = grader.config.asked_judge() else { continue };
            self.asks = true;
            if let AskedJudge::Named(name) = judge
                && self.named.iter().all(|known| known.name != name)
            {
                self.named.push(NamedJudge {
                    name: name.to_owned(),
                    grader: grader.name.clone(),
                    location: grader.location.clone(),
                });
            }
        }
    }
}

/// Judges that a caller gives names to, or names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judges {
    /// Names of the judges in Rust.
    pub registered: Vec<String>,
    /// Names of the default judges, where they are named.
    pub default: Vec<String>,
}

impl Judges {
    fn knows(&self, name: &str) -> bool {
        self.registered.iter().any(|registered| fold(registered) == fold(name))
    }
}

/// Whether a judge of the suite may be a command of a targets file: also one that only the environment names.
pub fn may_be_commands(judges: &Judges, suite: Option<&About>) -> bool {
    are_commands(judges, suite) || suite.is_some_and(|suite| suite.judging.asks)
}

/// Whether a judge that is named has to be a command of a targets file.
pub(super) fn are_commands(judges: &Judges, suite: Option<&About>) -> bool {
    let by_graders = suite.into_iter().flat_map(|suite| &suite.judging.named).map(|judge| &judge.name);
    by_graders.chain(&judges.default).any(|name| !judges.knows(name))
}

/// A warning for every judge that is named, but neither registered nor a command of a targets file, as far as that is known
/// while compiling.
pub(super) fn unknown(options: &Options, suite: Option<&About>) -> Vec<Message> {
    let (Some(suite), Some(judges), true) = (suite, &options.judges, options.bound) else { return Vec::new() };
    let by_graders = suite.judging.named.iter().map(|judge| {
        let NamedJudge { name, grader, location } = judge;
        (name, format!("grader `{grader}` asks the judge `{name}`, which is"), format!("\n --> {location}"))
    });
    let by_default = judges.default.iter().map(|name| (name, format!("the default judge `{name}` is"), String::new()));
    let unknown: Vec<_> = by_graders.chain(by_default).filter(|(name, ..)| !judges.knows(name)).collect();
    let has_targets = || targets_file::find(&options.request).is_none_or(|file| file.is_some());
    if unknown.is_empty() || has_targets() {
        return Vec::new();
    }
    let known: Vec<&str> = judges.registered.iter().map(String::as_str).collect();
    let code = Code::UnknownJudge;
    let warning = |(name, what, place): (&String, String, String)| {
        let near = suggest::nearest(name, known.iter().copied());
        let meant = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let text = format!(
            "[{code}] {what} neither in `judges` nor in a targets.yaml{place}\n  = help: {meant}name it in the macro, \
             `judges = {{ \"{name}\" => path }}`, or add a targets.yaml with a command of this name"
        );
        Message::warning(code.name(), text)
    };
    unknown.into_iter().map(warning).collect()
}
