//! Probes of suites that need not exist.

use evalsuite_records::record::{ProbeRecord, ProbeResult, ProbedCase, ResultKind, SuiteId};

/// The probe of a suite. Each case is its made-up results, and whether they pass.
pub fn synthetic_probe<const RESULTS: usize>(
    suite: &SuiteId,
    cases: impl IntoIterator<Item = [(ResultKind, bool); RESULTS]>,
) -> ProbeRecord {
    let mut probe = ProbeRecord::new();
    probe.suite = suite.clone();
    for results in cases {
        let mut case = ProbedCase::default();
        case.results.extend(results.map(|(kind, passes)| {
            let mut result = ProbeResult::default();
            (result.probe, result.passes) = (kind, Some(passes));
            result
        }));
        probe.cases.push(case);
    }
    probe.sum_up();
    probe
}
