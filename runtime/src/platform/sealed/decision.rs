//! Whether a command is sealed: what its settings ask for, and what the kernel can refuse.

use evalsuite_records::record::{SealRecord, SealState};
use evalsuite_schema::{Network, SealMode, Sealing};

use crate::platform::seal_terms::SealRefusal;
use crate::platform::sealed::enforcement::{SealRules, SealSupport, UNIX_SOCKETS};

/// First versions of Landlock that cover something.
const TRUNCATION: u32 = 3;
const TCP: u32 = 4;
const SCOPES: u32 = 6;

/// What follows from settings and kernel.
#[derive(Debug, Clone)]
pub(crate) enum SealDecision {
    /// It was not asked for.
    Off,
    /// The kernel cannot, and need not.
    Unsealed(SealRecord),
    /// The command starts with these rules.
    Sealed(SealRecord, SealRules),
}

impl SealDecision {
    /// What the record says.
    pub(crate) fn record(&self) -> SealRecord {
        match self {
            Self::Off => SealRecord::off(),
            Self::Unsealed(record) | Self::Sealed(record, _) => record.clone(),
        }
    }
}

/// Whether a command is sealed in this mode. `auto` takes what there is; `required` refuses to run with less than it asks for.
pub(crate) fn decide(mode: SealMode, sealing: &Sealing) -> Result<SealDecision, Box<SealRefusal>> {
    match mode {
        SealMode::Off => Ok(SealDecision::Off),
        SealMode::Auto | SealMode::Required => decide_with(mode, sealing, SealSupport::of_system()),
    }
}

/// The same of a command that is to be sealed, where the system offers `support`.
fn decide_with(mode: SealMode, sealing: &Sealing, support: &SealSupport) -> Result<SealDecision, Box<SealRefusal>> {
    let landlock_abi = match &support.landlock {
        Ok(abi) => *abi,
        Err(reason) if mode == SealMode::Required => {
            let message = format!("`sealed: {}`, but {reason}", mode.as_str());
            return Err(Box::new(SealRefusal { record: SealRecord::unsealed(reason), message }));
        }
        Err(reason) => return Ok(SealDecision::Unsealed(SealRecord::unsealed(reason))),
    };
    let rules = SealRules {
        network: sealing.network.clone().unwrap_or_default(),
        unix_sockets: sealing.unix_sockets,
        landlock_abi,
        socket_filter: support.socket_filter,
    };
    let coverage = coverage(&rules);
    if let (SealMode::Required, [first, ..]) = (mode, coverage.essential_gaps.as_slice()) {
        let gaps = coverage.essential_gaps.iter().map(|gap| format!("{} needs {}", gap.what, gap.needs));
        let gaps = gaps.collect::<Vec<_>>().join(", ");
        let here = format!("this system has Landlock ABI {landlock_abi}");
        let filter = if rules.socket_filter { "" } else { " and no filter for sockets (seccomp)" };
        let message = format!("`sealed: required`, but the kernel cannot refuse all of it: {gaps}; {here}{filter}");
        let record = SealRecord::unsealed(format!("the kernel does not cover {}", first.word));
        return Err(Box::new(SealRefusal { record, message }));
    }
    let mut record = SealRecord::default();
    record.state = SealState::Sealed;
    record.landlock_abi = Some(landlock_abi);
    record.network = shown(&rules.network);
    record.covered = coverage.covered.into_iter().map(str::to_owned).collect();
    record.uncovered = coverage.uncovered.into_iter().map(str::to_owned).collect();
    Ok(SealDecision::Sealed(record, rules))
}

/// The network as records show it.
fn shown(network: &Network) -> String {
    match network {
        Network::All => "all".to_owned(),
        Network::None => "none".to_owned(),
        Network::Ports(ports) => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            format!("ports {}", ports.join(", "))
        }
    }
}

#[derive(Default)]
struct Coverage {
    covered: Vec<&'static str>,
    uncovered: Vec<&'static str>,
    /// What the settings ask for and the kernel does not cover.
    essential_gaps: Vec<Gap>,
}

struct Gap {
    word: &'static str,
    what: &'static str,
    needs: &'static str,
}

impl Coverage {
    fn add(&mut self, word: &'static str, is_covered: bool) -> bool {
        if is_covered {
            self.covered.push(word)
        } else {
            self.uncovered.push(word)
        }
        is_covered
    }

    /// As `add`, for what `required` asks for.
    fn need(&mut self, word: &'static str, is_covered: bool, what: &'static str, needs: &'static str) {
        if !self.add(word, is_covered) {
            self.essential_gaps.push(Gap { word, what, needs });
        }
    }
}

/// What these rules refuse. Signals that end the test program give an error of the trial and no better record, so `required` can do without.
fn coverage(rules: &SealRules) -> Coverage {
    let (abi, filter) = (rules.landlock_abi, rules.socket_filter);
    let mut all = Coverage::default();
    all.add("files", true);
    all.need("truncation", abi >= TRUNCATION, "truncation of files", "Landlock ABI 3 (Linux 6.2)");
    all.add("processes", true);
    all.add("signals", abi >= SCOPES);
    match rules.network {
        Network::All => {}
        Network::None => {
            all.need("tcp", filter || abi >= TCP, "`network: none`", "Landlock ABI 4 (Linux 6.7) or seccomp");
            all.need("udp", filter, "`network: none`", "seccomp");
        }
        Network::Ports(_) => {
            all.need("tcp", abi >= TCP, "`network: {ports: …}`", "Landlock ABI 4 (Linux 6.7)");
            all.add("udp", false);
        }
    }
    if rules.unix_sockets {
        all.add("unix_sockets", false);
    } else {
        let needs = "Landlock ABI 9 (Linux 7.1) or seccomp";
        all.need("unix_sockets", filter || abi >= UNIX_SOCKETS, "the refusal of Unix sockets", needs);
    }
    all.add("abstract_sockets", abi >= SCOPES || rules.filters_unix_sockets());
    all.add("file_metadata", false);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn support(abi: u32, socket_filter: bool) -> SealSupport {
        SealSupport { landlock: Ok(abi), socket_filter }
    }

    fn sealing(network: Option<Network>) -> Sealing {
        Sealing { network, ..Sealing::default() }
    }

    #[test]
    fn without_a_kernel_for_it_auto_says_why_and_required_refuses() {
        let none = SealSupport::none("the kernel has no Landlock");
        assert_eq!(decide(SealMode::Off, &sealing(None)).unwrap().record(), SealRecord::off());
        let record = decide_with(SealMode::Auto, &sealing(None), &none).unwrap().record();
        assert_eq!(record.text(), "unsealed: the kernel has no Landlock");
        let refusal = decide_with(SealMode::Required, &sealing(None), &none).unwrap_err();
        assert_eq!(refusal.message, "`sealed: required`, but the kernel has no Landlock");
        assert!(!refusal.record.is_sealed());
    }

    #[test]
    fn a_record_says_what_is_covered_and_what_is_not() {
        let record = |network, abi, filter| {
            decide_with(SealMode::Auto, &sealing(Some(network)), &support(abi, filter)).unwrap().record()
        };
        let new = record(Network::None, 7, true);
        let covered = ["files", "truncation", "processes", "signals", "tcp", "udp", "unix_sockets", "abstract_sockets"];
        assert_eq!(new.covered, covered);
        assert_eq!(new.text(), "sealed: Landlock ABI 7, network none, not covered: file metadata");
        let ports = record(Network::Ports(vec![443, 80]), 4, true);
        assert_eq!((ports.network.as_str(), ports.landlock_abi), ("ports 443, 80", Some(4)));
        assert_eq!(ports.uncovered, ["signals", "udp", "file_metadata"]);
        let old = record(Network::All, 1, false);
        assert_eq!(old.uncovered, ["truncation", "signals", "unix_sockets", "abstract_sockets", "file_metadata"]);
    }

    #[test]
    fn required_refuses_each_gap_of_what_is_asked_for() {
        let refused = |sealing: Sealing, abi, filter| {
            decide_with(SealMode::Required, &sealing, &support(abi, filter)).err().map(|refusal| refusal.message)
        };
        assert_eq!(refused(sealing(None), 3, true), None);
        assert_eq!(refused(sealing(Some(Network::None)), 3, true), None);
        let old = refused(sealing(None), 2, true).unwrap();
        assert!(
            old.contains("truncation of files needs Landlock ABI 3 (Linux 6.2); this system has Landlock ABI 2"),
            "{old}"
        );
        let ports = refused(sealing(Some(Network::Ports(vec![443]))), 3, true).unwrap();
        assert!(ports.contains("`network: {ports: …}` needs Landlock ABI 4 (Linux 6.7)"), "{ports}");
        let sockets = refused(sealing(None), 7, false).unwrap();
        assert!(
            sockets.contains("Unix sockets needs") && sockets.contains("no filter for sockets (seccomp)"),
            "{sockets}"
        );
        let allowed = Sealing { unix_sockets: true, ..Sealing::default() };
        assert_eq!(refused(allowed, 7, false), None);
        assert!(refused(sealing(Some(Network::None)), 7, false).unwrap().contains("`network: none` needs seccomp"));
    }
}
