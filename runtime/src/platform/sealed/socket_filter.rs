//! The sockets that Landlock cannot refuse: a seccomp filter that this thread and the programs that it starts keep.
//!
//! A filter sees numbers, and no paths or addresses: it refuses kinds of sockets.

use std::collections::BTreeMap;

use evalsuite_schema::Network;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter};

use crate::platform::sealed::decision::SealRules;

/// The bits of a socket's type that are not flags.
const TYPE: u64 = 0xf;
const STREAM: u64 = libc::SOCK_STREAM as u64;
const DATAGRAM: u64 = libc::SOCK_DGRAM as u64;
const UNIX: u64 = libc::AF_UNIX as u64;
const INTERNET: [u64; 2] = [libc::AF_INET as u64, libc::AF_INET6 as u64];
const NETLINK: u64 = libc::AF_NETLINK as u64;
const TCP: u64 = libc::IPPROTO_TCP as u64;

/// Whether a filter can be put on this thread, which has to end afterwards.
pub(super) fn is_available() -> bool {
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
