//! Commands of suites, the paths that suites name, and what commands of a trial may use: the keys of targets, code graders and hooks that are
//! sealed.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, FromJsonOverDefault, ToJson};

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Command {
    /// A line for `sh -c` (on Windows `cmd /C`).
    Shell(String),
    /// Program and arguments, without a shell. Elements that name files of the suite are [`Argument::Path`].
    Argv(Vec<Argument>),
}

/// A command and its working directory.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub struct PreparedCommand {
    /// What runs.
    pub command: Command,
    /// Working directory; `None`: the directory of the eval file.
    pub cwd: Option<PathRef>,
}

/// An element of [`Command::Argv`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum Argument {
    /// Passed as written.
    Text(String),
    /// A file of the suite, passed as absolute path.
    Path(PathRef),
}

/// A path named by a file of the suite, found while the suite was loaded.
///
/// ```
/// use evalsuite_schema::{Part, PathRef};
///
/// let report = Part::File(PathRef::new("out/report.md"));
/// assert_eq!(report.file().map(|file| file.path.as_str()), Some("out/report.md"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToJson, FromJson)]
#[non_exhaustive]
pub struct PathRef {
    /// The path as written in the file.
    pub written: String,
    /// Where it was found: relative to the package root, with `/` separators; absolute if the suite is outside the package.
    pub path: String,
}

impl PathRef {
    /// A path as a file writes it, and where it was found.
    pub fn found(written: impl Into<String>, path: impl Into<String>) -> Self {
        Self { written: written.into(), path: path.into() }
    }

    /// A path that is not from a file of the suite, such as a file that an agent wrote: absolute, or relative to the workspace.
    pub fn new(path: impl Into<String>) -> Self {
        let path = path.into();
        Self { written: path.clone(), path }
    }
}

crate::keys::made!(PathRef, PreparedCommand);

/// Whether the kernel confines a command, and what it may use then.
#[skip_empty(.., unix_sockets)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "sealing")]
pub struct Sealing {
    /// Whether the Linux kernel confines the command to its workspace, the system's programs, and what `read` and `write` name. `auto`: if the
    /// kernel can; the record says whether it did. `required`: if it cannot, the trial is an error before the agent starts.
    #[key(Choice(SealMode::WORDS), "auto", default = "the suite's `execution.sealed`, else `off`")]
    pub sealed: Option<SealMode>,
    /// Network access of a sealed command: everything, nothing, or TCP with these ports, which do not restrict UDP.
    #[key(OneOf(&[Choice(Network::WORDS), Object(NetworkPorts::TABLE)]), "{ports: [443]}", default = "`all`", by_hand)]
    pub network: Option<Network>,
    /// Whether a sealed command may connect to any Unix socket by its path, such as that of a database.
    #[key(Boolean, "true", default = "`false`")]
    pub unix_sockets: bool,
    /// Files and directories that a sealed command may read and run: relative or absolute paths, or `~/…`, which it also finds in its own home
    /// directory. The suite and the records stay closed.
    #[key(List(&OneOf(&[File, Directory])), "[./prompts, ~/.config/my-agent]", codes(MissingPath, PathEscape), by_hand)]
    pub read: Vec<PathRef>,
    /// Like `read`, for files and directories that it may also change.
    #[key(List(&OneOf(&[File, Directory])), "[~/.cache/my-agent]", codes(MissingPath, PathEscape), by_hand)]
    pub write: Vec<PathRef>,
}

impl Sealing {
    /// These settings where they say something, else those of `other`.
    pub fn or(self, other: &Self) -> Self {
        let or = |own: Vec<PathRef>, other: &Vec<PathRef>| if own.is_empty() { other.clone() } else { own };
        Self {
            sealed: self.sealed.or(other.sealed),
            network: self.network.or_else(|| other.network.clone()),
            unix_sockets: self.unix_sockets || other.unix_sockets,
            read: or(self.read, &other.read),
            write: or(self.write, &other.write),
        }
    }

    /// Whether it asks for a seal, on systems that have one.
    pub fn asks(&self) -> bool {
        self.sealed.is_some_and(|mode| mode != SealMode::Off)
    }
}

/// Whether a command is sealed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson, Words)]
pub enum SealMode {
    /// It has the rights of the user.
    #[default]
    Off,
    /// It is sealed where the kernel can do so.
    Auto,
    /// It is sealed, or the trial is an error.
    Required,
}

impl SealMode {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

/// What a sealed command may reach over the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJson)]
pub enum Network {
    /// Everything.
    #[default]
    All,
    /// Nothing.
    None,
    /// TCP with these ports.
    Ports(Vec<u16>),
}

impl Network {
    /// The words that select what needs no ports.
    pub const WORDS: &'static [&'static str] = &["all", "none"];
}

/// TCP ports.
#[derive(Debug, Keys)]
#[keys(id = "network", what = "`network`")]
pub struct NetworkPorts {
    /// Ports that the command may connect to and listen on.
    #[key(Some(&Integer(1, 65_535)), "[443]", required)]
    pub ports: Vec<u64>,
}

crate::keys::made!(Network);
