//! Starts a program on a thread that has restricted itself, with the environment variables that it may have.
//!
//! Landlock cannot refuse sockets: a seccomp filter that this thread and the programs that it starts keep does. A filter sees numbers, and
//! no paths or addresses: it refuses kinds of sockets. What the kernel can refuse is measured once per process.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::{fmt, io, thread};

use evalsuite_schema::Network;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter};

use crate::platform::sealed::SealedStart;
use crate::platform::sealed::opened_paths::{self, OwnDirectories, Rights};

/// First version of Landlock that covers Unix sockets.
pub(super) const UNIX_SOCKETS: u32 = 9;

/// What the kernel has to refuse, besides files.
#[derive(Debug, Clone)]
pub(crate) struct SealRules {
    pub(crate) network: Network,
    /// Whether Unix sockets outside of the trial are allowed.
    pub(crate) unix_sockets: bool,
    /// Version of Landlock that was measured.
    pub(crate) landlock_abi: u32,
    /// Whether sockets are filtered.
    pub(crate) socket_filter: bool,
}

impl SealRules {
    /// Whether the filter has to refuse Unix sockets: Landlock cannot.
    pub(crate) fn filters_unix_sockets(&self) -> bool {
        self.socket_filter && !self.unix_sockets && self.landlock_abi < UNIX_SOCKETS
    }
}

/// The newest version of Landlock whose file rights are asked for. A kernel with an older one refuses what it knows.
const FILES: ABI = ABI::V9;

/// Why a program did not start.
pub(super) enum Failure {
    /// A restriction is not in force.
    Seal(String),
    /// The program cannot be run.
    Start(io::Error),
}

/// Version of Landlock that restricts this thread, which has to end afterwards; else why none does.
pub(super) fn landlock_abi() -> Result<u32, String> {
    let restricted = Ruleset::default()
        .handle_access(AccessFs::MakeBlock)
        .and_then(Ruleset::create)
        .and_then(RulesetCreated::restrict_self);
    let status = restricted.map_err(|error| format!("Landlock cannot restrict a thread: {error}"))?;
    match status.landlock {
        LandlockStatus::Available { .. } if status.ruleset == RulesetStatus::NotEnforced => {
            Err("Landlock does not restrict a thread".to_owned())
        }
        LandlockStatus::Available { effective_abi, .. } => Ok(effective_abi as u32),
        LandlockStatus::NotEnabled => Err("the kernel was started without Landlock".to_owned()),
        LandlockStatus::NotImplemented => Err("the kernel has no Landlock (Linux 5.13 or newer)".to_owned()),
    }
}

/// Starts the command on a thread of its own, which the restrictions end with; the program keeps them.
pub(super) fn spawn(command: &mut Command, start: &SealedStart) -> Result<Child, Failure> {
    thread::scope(|scope| {
        let restrict_and_start = || {
            restrict(start).map_err(Failure::Seal)?;
            command.spawn().map_err(Failure::Start)
        };
        let thread = thread::Builder::new().name("evalsuite-seal".to_owned());
        let thread = thread.spawn_scoped(scope, restrict_and_start).map_err(|error| failed(&error))?;
        thread.join().unwrap_or_else(|_| Err(Failure::Seal("the thread that starts it panicked".to_owned())))
    })
}

fn failed(error: &dyn fmt::Display) -> Failure {
    Failure::Seal(error.to_string())
}

/// Restricts this thread, for good.
fn restrict(start: &SealedStart) -> Result<(), String> {
    let rules = &start.rules;
    let opened = opened_paths::of(start).map_err(|error| error.to_string())?;
    let tcp = AccessNet::BindTcp | AccessNet::ConnectTcp;
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(FILES))
        .and_then(|ruleset| ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal))
        .map_err(|error| error.to_string())?;
    if rules.network != Network::All {
        ruleset = ruleset.handle_access(tcp).map_err(|error| error.to_string())?;
    }
    let mut ruleset = ruleset.create().map_err(|error| error.to_string())?;
    for path in &opened {
        let beneath = match PathFd::new(&path.path) {
            Ok(directory) => PathBeneath::new(directory, access(&path.path, path.rights, rules.unix_sockets)),
            Err(_) if path.is_optional => continue,
            Err(error) => return Err(format!("{}: {error}", path.path.display())),
        };
        ruleset = ruleset.add_rule(beneath).map_err(|error| format!("{}: {error}", path.path.display()))?;
    }
    if rules.unix_sockets && rules.landlock_abi >= ABI::V9 as u32 {
        let root = PathFd::new("/").map_err(|error| error.to_string())?;
        ruleset = ruleset.add_rule(PathBeneath::new(root, AccessFs::ResolveUnix)).map_err(|error| error.to_string())?;
    }
    if let Network::Ports(ports) = &rules.network {
        for port in ports {
            ruleset = ruleset.add_rule(NetPort::new(*port, tcp)).map_err(|error| error.to_string())?;
        }
    }
    let status = ruleset.restrict_self().map_err(|error| error.to_string())?;
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        _ => 0,
    };
    // What the record says was measured before: less than that is not silently accepted.
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs || abi < rules.landlock_abi {
        return Err(format!("Landlock restricts less than before: its ABI is {abi}, and was {}", rules.landlock_abi));
    }
    if rules.socket_filter { apply(rules) } else { Ok(()) }
}

/// The rights below a path.
fn access(path: &Path, rights: Rights, unix_sockets: bool) -> BitFlags<AccessFs> {
    let mut access = match rights {
        Rights::Read => AccessFs::from_read(FILES),
        Rights::Write => AccessFs::from_all(FILES) & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev),
        // Neither terminal commands nor programs.
        Rights::Device => AccessFs::ReadFile | AccessFs::WriteFile,
    };
    if rights == Rights::Read && !unix_sockets {
        access &= !BitFlags::from_flag(AccessFs::ResolveUnix);
    }
    if path.is_dir() { access } else { access & AccessFs::from_file(FILES) }
}

/// The bits of a socket's type that are not flags.
const TYPE: u64 = 0xf;
const STREAM: u64 = libc::SOCK_STREAM as u64;
const DATAGRAM: u64 = libc::SOCK_DGRAM as u64;
const UNIX: u64 = libc::AF_UNIX as u64;
const INTERNET: [u64; 2] = [libc::AF_INET as u64, libc::AF_INET6 as u64];
const NETLINK: u64 = libc::AF_NETLINK as u64;
const TCP: u64 = libc::IPPROTO_TCP as u64;

/// Whether a filter can be put on this thread, which has to end afterwards.
fn is_available() -> bool {
    let rules = SealRules { network: Network::None, unix_sockets: false, landlock_abi: 0, socket_filter: true };
    apply(&rules).is_ok()
}

/// Filters the sockets of this thread, for good.
pub(super) fn apply(rules: &SealRules) -> Result<(), String> {
    let refused = refused_sockets(rules)?;
    if refused.is_empty() {
        return Ok(());
    }
    let program = program(refused)?;
    apply_filter(&program).map_err(|error| format!("the filter for sockets cannot be applied: {error}"))
}

fn program(refused: BTreeMap<i64, Vec<SeccompRule>>) -> Result<BpfProgram, String> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let refuse = SeccompAction::Errno(libc::EACCES as u32);
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, refuse, architecture);
    filter.and_then(BpfProgram::try_from).map_err(|error| error.to_string())
}

/// The calls of the system that are refused, with conditions on their arguments: `socket(domain, type, protocol)`.
fn refused_sockets(rules: &SealRules) -> Result<BTreeMap<i64, Vec<SeccompRule>>, String> {
    let domain = |op, value| SeccompCondition::new(0, Dword, op, value);
    let of_type = |op, value| SeccompCondition::new(1, Dword, op, value);
    let protocol = |value| SeccompCondition::new(2, Dword, Ne, value);
    let mut conditions = Vec::new();
    match rules.network {
        Network::All => {}
        Network::None => conditions.push(vec![domain(Ne, UNIX)]),
        Network::Ports(_) => {
            // TCP, whose ports Landlock checks, and UDP, without which no name has an address.
            let [four, six] = INTERNET;
            conditions.push(vec![domain(Ne, UNIX), domain(Ne, four), domain(Ne, six), domain(Ne, NETLINK)]);
            for family in INTERNET {
                let streams = (0..=TYPE).filter(|other| ![STREAM, DATAGRAM].contains(other));
                conditions.extend(streams.map(|other| vec![domain(Eq, family), of_type(MaskedEq(TYPE), other)]));
                // Landlock does not know other protocols over streams, such as multipath TCP.
                let stream = of_type(MaskedEq(TYPE), STREAM);
                conditions.push(vec![domain(Eq, family), stream, protocol(0), protocol(TCP)]);
            }
        }
    }
    let mut refused = BTreeMap::new();
    if rules.filters_unix_sockets() {
        conditions.push(vec![domain(Eq, UNIX)]);
        // One end of a pair can send to the path of any other socket.
        let pair = rule(vec![domain(Eq, UNIX), of_type(MaskedEq(TYPE), DATAGRAM)])?;
        refused.insert(libc::SYS_socketpair, vec![pair]);
    }
    if !conditions.is_empty() {
        refused.insert(libc::SYS_socket, conditions.into_iter().map(rule).collect::<Result<_, _>>()?);
        // It makes sockets that no filter sees.
        refused.insert(libc::SYS_io_uring_setup, Vec::new());
    }
    Ok(refused)
}

fn rule(conditions: Vec<Result<SeccompCondition, seccompiler::BackendError>>) -> Result<SeccompRule, String> {
    let conditions = conditions.into_iter().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

/// What the kernel offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealSupport {
    /// Version of Landlock, from 1; else why there is none.
    pub(crate) landlock: Result<u32, String>,
    /// Whether a filter can refuse sockets.
    pub(crate) socket_filter: bool,
}

impl SealSupport {
    /// No support, for this reason.
    pub(crate) fn none(reason: impl Into<String>) -> Self {
        Self { landlock: Err(reason.into()), socket_filter: false }
    }

    /// What this system offers. A thread that ends tries it: support is more than a version of the kernel, and containers may forbid it.
    pub(crate) fn of_system() -> &'static Self {
        static SUPPORT: OnceLock<SealSupport> = OnceLock::new();
        SUPPORT.get_or_init(measured)
    }
}

fn measured() -> SealSupport {
    let try_both = || SealSupport { landlock: landlock_abi(), socket_filter: is_available() };
    let thread = std::thread::Builder::new().name("evalsuite-seal".to_owned()).spawn(try_both);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(support)) => support,
        Ok(Err(_)) => SealSupport::none("the attempt to restrict a thread panicked"),
        Err(error) => SealSupport::none(format!("no thread can be started to restrict: {error}")),
    }
}

/// Sockets of agents and sessions, directories of the user, and where cargo keeps credentials.
const REMOVED: &[&str] = &[
    "CARGO_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "GNUPGHOME",
    "GNOME_KEYRING_CONTROL",
    "GPG_AGENT_INFO",
    "KRB5CCNAME",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "VSCODE_GIT_IPC_HANDLE",
    "VSCODE_IPC_HOOK_CLI",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// Replaces the home directory and the directory for temporary files, and removes variables that lead to what a seal closes. A variable that
/// the command's settings set stays.
pub(crate) fn confine(command: &mut Command, directories: &OwnDirectories) {
    let set: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    let is_free = |name: &str| !set.iter().any(|known| known == OsStr::new(name));
    for name in REMOVED.iter().filter(|name| is_free(name)) {
        command.env_remove(name);
    }
    let temporary = directories.temporary();
    let own = [("HOME", directories.home()), ("TMPDIR", temporary), ("TEMP", temporary), ("TMP", temporary)];
    for (name, directory) in own.into_iter().filter(|(name, _)| is_free(name)) {
        command.env(name, directory);
    }
    // The programs of toolchain managers look for the toolchains in the home directory.
    for (name, directory) in opened_paths::manager_variables().filter(|(name, _)| is_free(name)) {
        command.env(name, directory);
    }
}
