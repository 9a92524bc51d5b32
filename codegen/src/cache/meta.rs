//! What decides whether generated code left in OUT_DIR still holds.

use std::path::{Path, PathBuf};

use evalsuite_loader::{GraderUse, LoadedSuite, Request};
use evalsuite_schema::diagnostic::{Code, Severity};
use serde::{Deserialize, Serialize};

use super::entry;
use super::stamp::Stamps;
use crate::embed::{Contents, Embedded};
use crate::expansion::{About, Judging, Message};
use crate::statics::Body;

/// Everything about a loaded suite but its code.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// Version of this crate: another one may generate other code.
    version: String,
    entry: Option<PathBuf>,
    package_root: PathBuf,
    workspace_root: PathBuf,
    pub(crate) module: String,
    pub(crate) agent_name: Option<String>,
    pub(crate) targets: Vec<String>,
    pub(crate) case_targets: Vec<String>,
    pub(crate) judging: Judging,
    /// Names of the graders that are not built in.
    pub(crate) graders: Vec<String>,
    pub(crate) warnings: Vec<Warning>,
    /// Lengths of the two files of code.
    lengths: (usize, usize),
    pub(crate) embedded: Kept,
    pub(crate) stamps: Stamps,
}

/// How the files that cases need are kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// They are not.
    Off,
    /// Cases need none.
    Nothing,
    /// In the archive at this place in OUT_DIR.
    Archive(String),
}

impl From<Kept> for Embedded {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Off => Self::Off,
            Kept::Nothing => Self::Files(Contents::none()),
            Kept::Archive(path) => Self::Archive(path, Contents::none()),
        }
    }
}

/// A warning as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Warning {
    name: String,
    text: String,
    short: String,
}

impl Warning {
    pub(crate) fn is_about(&self, code: Code) -> bool {
        self.name == code.name()
    }
}

impl From<Warning> for Message {
    fn from(Warning { name, text, short }: Warning) -> Self {
        Self { name, severity: Severity::Warning, text, short }
    }
}

impl Meta {
    pub(crate) fn new(
        request: &Request,
        suite: &LoadedSuite,
        user_graders: &[GraderUse],
        warnings: Vec<Message>,
        (body, embedded): (&Body, &Embedded),
        stamps: Stamps,
    ) -> Self {
        let About { agent_name, targets, case_targets, judging } = About::new(suite);
        let mut graders: Vec<String> = user_graders.iter().map(|grader| grader.name.clone()).collect();
        graders.sort();
        graders.dedup();
        let kept = |Message { name, text, short, .. }: Message| Warning { name, text, short };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            entry: entry(request),
            package_root: request.package_root.clone(),
            workspace_root: request.workspace_root.clone(),
            module: suite.module.clone(),
            agent_name,
            targets,
            case_targets,
            judging,
            graders,
            warnings: warnings.into_iter().map(kept).collect(),
            lengths: (body.statics.len(), body.tests.len()),
            embedded: match embedded {
                Embedded::Off => Kept::Off,
                Embedded::Files(_) => Kept::Nothing,
                Embedded::Archive(path, _) => Kept::Archive(path.clone()),
            },
            stamps,
        }
    }

    /// Whether loading would give the same.
    pub(crate) fn holds_for(&self, request: &Request) -> bool {
        self.version == env!("CARGO_PKG_VERSION")
            && self.entry == entry(request)
            && self.package_root == request.package_root
            && self.workspace_root == request.workspace_root
            && self.stamps.hold()
    }

    /// Whether the archive is there if there has to be one.
    pub(crate) fn archive_is_there(&self, path: &Path) -> bool {
        !matches!(self.embedded, Kept::Archive(_)) || path.is_file()
    }

    /// Whether `body` is the code that was kept, as far as its length tells.
    pub(crate) fn is_of(&self, body: &Body) -> bool {
        self.lengths == (body.statics.len(), body.tests.len())
    }
}
