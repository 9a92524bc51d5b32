//! Starts a program on a thread that has restricted itself.

use std::path::Path;
use std::process::{Child, Command};
use std::{fmt, io, thread};

use evalsuite_schema::Network;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::platform::sealed::opened_paths::{self, Rights};
use crate::platform::sealed::{SealedStart, socket_filter};

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
    if rules.socket_filter { socket_filter::apply(rules) } else { Ok(()) }
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
