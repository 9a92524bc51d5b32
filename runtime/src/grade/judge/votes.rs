//! Several judgements of the same answer: of several judges, or of one that is asked again after a failing verdict.

use evalsuite_schema::record::{GraderRecord, GraderState, Verdict};
use serde_json::{Value, json};

/// What judgements come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The missing ones could change it.
    Open,
    Verdict(Verdict),
    Undecided,
    /// Those that broke could have changed it.
    Error,
}

/// Where `total` judgements stand after those of `votes`. As many passes as fails are a fail; a judgement that is undecided
/// does not count.
pub(crate) fn standing(votes: &[GraderRecord], total: usize) -> Standing {
    let count = |fits: &dyn Fn(&GraderRecord) -> bool| votes.iter().filter(|vote| fits(vote)).count();
    let passes = count(&|vote| vote.verdict == Some(Verdict::Pass));
    let fails = count(&|vote| vote.verdict == Some(Verdict::Fail));
    let errors = count(&|vote| vote.state == GraderState::Error);
    let missing = total.saturating_sub(votes.len());
    if passes > fails + errors + missing {
        return Standing::Verdict(Verdict::Pass);
    }
    if fails > 0 && fails >= passes + errors + missing {
        return Standing::Verdict(Verdict::Fail);
    }
    match () {
        () if missing > 0 => Standing::Open,
        () if errors > 0 => Standing::Error,
        () => Standing::Undecided,
    }
}

/// The judgement that stands for all: of those with the verdict of the majority, the one in the middle.
pub(crate) fn representative(mut votes: Vec<GraderRecord>, standing: Standing) -> Option<GraderRecord> {
    let all: Vec<Value> = votes.iter().map(shown).collect();
    votes.retain(|vote| match standing {
        Standing::Verdict(verdict) => vote.verdict == Some(verdict),
        Standing::Undecided => vote.state == GraderState::Undecided,
        Standing::Error | Standing::Open => vote.state == GraderState::Error,
    });
    votes.sort_by(|a, b| a.value.unwrap_or_default().total_cmp(&b.value.unwrap_or_default()));
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
    use evalsuite_schema::{Grader, GraderConfig, Layout, Location};

    use super::*;
    use crate::{grade::settle::settle, model::score::Score};

    fn votes(texts: &str) -> Vec<GraderRecord> {
        let grader = Grader::new("g", Location::new("f", 1, 1), GraderConfig::IsJson);
        let score = |kind| match kind {
            'p' => Score::new(0.9),
            'P' => Score::new(1.0),
            'f' => Score::new(0.2),
            'u' => Score::undecided("?"),
            _ => Score::error("broken"),
        };
        texts.chars().map(|kind| settle(&grader, score(kind).into(), Layout::Cases)).collect()
    }

    #[test]
    fn the_majority_decides_as_soon_as_it_is_there() {
        use Standing::{Error, Open, Undecided, Verdict as Is};
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
            assert_eq!(standing(&votes(given), total), expected, "{given} of {total}");
        }
    }

    #[test]
    fn the_one_in_the_middle_stands_for_all() {
        let chosen = representative(votes("fPpP"), Standing::Verdict(Verdict::Pass)).unwrap();
        assert_eq!(chosen.value, Some(1.0));
        assert_eq!(chosen.details.unwrap()["votes"].as_array().map(Vec::len), Some(4));
        assert_eq!(representative(votes("p"), Standing::Verdict(Verdict::Pass)).unwrap().details, None);
        assert_eq!(representative(votes("fe"), Standing::Error).unwrap().error.as_deref(), Some("broken"));
    }
}
