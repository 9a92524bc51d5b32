use std::path::PathBuf;

use evalsuite_loader::Request;
use evalsuite_schema::Requires;

use super::Judges;

/// What a caller wants of a suite: the macro's arguments, or those of the builder in a build script.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to load.
    pub request: Request,
    /// Name of the module; `None`: as the suite is called.
    pub name: Option<String>,
    /// Whether there are tests: `false` for `agent = none`.
    pub bound: bool,
    /// For `agent = "cli"`: the targets that have an agent of their own, and so need no command.
    pub commands: Option<Vec<String>>,
    /// Names of the registered graders; `None`: graders are not checked.
    pub graders: Option<Vec<String>>,
    /// The judges that have names; `None`: judges are not checked.
    pub judges: Option<Judges>,
    /// Why the tests are ignored.
    pub ignore: Option<String>,
    /// What every case needs beside what its files say.
    pub requires: Requires,
    /// Names of warnings to leave out, as [`allow::problem`](super::allow::problem) lets them pass.
    pub allow: Vec<String>,
    /// Whether warnings are errors.
    pub deny_warnings: bool,
    /// Whether the files that cases need travel in the program.
    pub embed: bool,
    /// Where the build script left what it loaded.
    pub out_dir: Option<PathBuf>,
}

impl Options {
    /// The defaults of the macro's arguments.
    pub fn new(request: Request) -> Self {
        Self {
            request,
            name: None,
            bound: true,
            commands: None,
            graders: Some(Vec::new()),
            judges: Some(Judges::default()),
            ignore: None,
            requires: Requires::default(),
            allow: Vec::new(),
            deny_warnings: false,
            embed: true,
            out_dir: None,
        }
    }

    /// Whether the suite can be taken as the build script loads it: with every setting that changes cases at its default.
    pub(crate) fn loads_as_tracked(&self) -> bool {
        let plain = Request::new(self.request.entry.clone(), self.request.package_root.clone());
        self.requires == Requires::default()
            && self.request.targets.is_empty()
            && self.request.fixtures == plain.fixtures
            && self.request.allow_docker == plain.allow_docker
            && self.request.workspace_root == plain.workspace_root
    }
}
