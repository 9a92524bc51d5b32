//! The votes of judges on one answer: of several judges, or of one that is asked again after a failing verdict.

use evalsuite_records::record::{GraderRecord, GraderState, Verdict};
use evalsuite_schema::json::{Value, json};
use evalsuite_schema::sorting::sort_by;

/// The result of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Majority {
    /// The votes that are missing could change it.
    Open,
    Verdict(Verdict),
    Undecided,
    /// The votes that are errors could have changed it.
    Error,
}

/// The result after `votes` of `total` votes. A tie of passes and fails is a fail; an undecided vote does not count.
pub(crate) fn majority(votes: &[GraderRecord], total: usize) -> Majority {
    let count = |fits: &dyn Fn(&GraderRecord) -> bool| votes.iter().filter(|vote| fits(vote)).count();
    let passes = count(&|vote| vote.verdict == Some(Verdict::Pass));
    let fails = count(&|vote| vote.verdict == Some(Verdict::Fail));
    let errors = count(&|vote| vote.state == GraderState::Error);
    let missing = total.saturating_sub(votes.len());
    if passes > fails + errors + missing {
        return Majority::Verdict(Verdict::Pass);
    }
    if fails > 0 && fails >= passes + errors + missing {
        return Majority::Verdict(Verdict::Fail);
    }
    match () {
        () if missing > 0 => Majority::Open,
        () if errors > 0 => Majority::Error,
        () => Majority::Undecided,
    }
}

/// The vote that is recorded as the grader's result: of those that agree with the majority, the one with the median value.
pub(crate) fn representative(mut votes: Vec<GraderRecord>, majority: Majority) -> Option<GraderRecord> {
    let all: Vec<Value> = votes.iter().map(shown).collect();
    votes.retain(|vote| match majority {
        Majority::Verdict(verdict) => vote.verdict == Some(verdict),
        Majority::Undecided => vote.state == GraderState::Undecided,
        Majority::Error | Majority::Open => vote.state == GraderState::Error,
    });
    sort_by(&mut votes, |a, b| a.value.unwrap_or_default().total_cmp(&b.value.unwrap_or_default()));
    let middle = votes.len().saturating_sub(1) / 2;
    let mut chosen = votes.into_iter().nth(middle)?;
    if all.len() > 1 {
        chosen.details.get_or_insert_default().insert("votes".to_owned(), Value::Array(all));
    }
    Some(chosen)
}

fn shown(vote: &GraderRecord) -> Value {
    json!({
        "judge": vote.judge.as_ref().map(|judge| &judge.name),
        "state": vote.state,
        "verdict": vote.verdict,
        "value": vote.value,
        "error": vote.error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(kinds: &str) -> Vec<GraderRecord> {
        let vote = |kind| {
            let (state, value, verdict) = match kind {
                'p' => ("decided", Some(0.9), Some("pass")),
                'P' => ("decided", Some(1.0), Some("pass")),
                'f' => ("decided", Some(0.2), Some("fail")),
                'u' => ("undecided", None, None),
                _ => ("error", None, None),
            };
            let vote = json!({
                "name": "g", "type": "llm-grader", "kind": "model", "state": state, "value": value, "verdict": verdict,
                "forced_fail": false, "weight": 1.0, "required": false, "negated": false, "duration_ms": 0,
                "assertions": [], "members": [], "error": (state == "error").then_some("broken"),
                "location": {"file": "f", "line": 1, "column": 1},
            });
            evalsuite_schema::json::from_value(vote).unwrap()
        };
        kinds.chars().map(vote).collect()
    }

    #[test]
    fn the_majority_decides_as_soon_as_it_is_clear() {
        use Majority::{Error, Open, Undecided, Verdict as Is};
        for (given, total, expected) in [
            ("p", 1, Is(Verdict::Pass)),
            ("f", 3, Open),
            ("ff", 3, Is(Verdict::Fail)),
            ("fp", 3, Open),
            ("fpp", 3, Is(Verdict::Pass)),
            ("fpu", 3, Is(Verdict::Fail)),
            ("fup", 3, Is(Verdict::Fail)),
            ("fue", 3, Is(Verdict::Fail)),
            ("fpe", 3, Error),
            ("ppe", 3, Is(Verdict::Pass)),
            ("ffe", 3, Is(Verdict::Fail)),
            ("fp", 2, Is(Verdict::Fail)),
            ("u", 1, Undecided),
            ("uu", 2, Undecided),
            ("ue", 2, Error),
            ("e", 1, Error),
        ] {
            assert_eq!(majority(&votes(given), total), expected, "{given} of {total}");
        }
    }

    #[test]
    fn the_median_vote_of_the_majority_is_recorded() {
        let chosen = representative(votes("fPpP"), Majority::Verdict(Verdict::Pass)).unwrap();
        assert_eq!(chosen.value, Some(1.0));
        assert_eq!(chosen.details.unwrap()["votes"].as_array().map(Vec::len), Some(4));
        assert_eq!(representative(votes("p"), Majority::Verdict(Verdict::Pass)).unwrap().details, None);
        assert_eq!(representative(votes("fe"), Majority::Error).unwrap().error.as_deref(), Some("broken"));
    }
}
