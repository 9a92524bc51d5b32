//! How a case passes, with fractions: pass marks, guards, composites, trials, turns.

use crate::decimal::{Decimal, Exact, ratio, whole};
use crate::grader_tree::{Kind, Node};

/// How a grader ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct End {
    pub(crate) state: State,
    /// Whether a verdict other than `pass` fails everything around it.
    pub(crate) guard: bool,
    pub(crate) required: bool,
    pub(crate) weight: Exact,
}

/// The state of a grader.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    Error,
    Undecided,
    Decided { score: Exact, passes: bool },
}

impl End {
    /// Whether a guard was broken.
    pub(crate) fn is_broken(&self) -> bool {
        match self.state {
            State::Decided { passes, .. } => !passes && (self.guard || self.required),
            State::Undecided | State::Error => false,
        }
    }

    /// Whether there is no result, and none without it.
    fn is_error(&self) -> bool {
        self.state == State::Error || self.required && self.state == State::Undecided
    }

    fn decided(&self) -> Option<(&Exact, bool)> {
        match &self.state {
            State::Decided { score, passes } => Some((score, *passes)),
            _ => None,
        }
    }
}

/// Where a verdict comes from.
enum Verdict {
    /// The score is compared with the mark of the case, or a written one.
    Compared,
    /// The score is compared with a mark of the grader's own.
    Own(Exact),
    /// Whatever the score.
    Stated(bool),
}

/// A score, where its verdict comes from, and whether everything around it fails, too.
type Graded = (Exact, Verdict, bool);

/// How a grader ends in a case with this threshold.
pub(crate) fn end(node: &Node, threshold: &Exact) -> End {
    // An inverted one asks for the skill, and decides as any other grader.
    let asks_for_skill = node.negate && matches!(node.kind, Kind::Skill { .. });
    let is_guard_type =
        !asks_for_skill && matches!(node.kind, Kind::Guard { .. } | Kind::Forced { .. } | Kind::Skill { .. });
    let counts_entirely = node.min_score.is_none() && node.weight.units > 0;
    let mut guard = is_guard_type && counts_entirely;
    let mark = node.min_score.map_or_else(|| threshold.clone(), Decimal::exact);
    let state = match graded(&node.kind, node.min_score.is_none(), threshold) {
        Err(state) => state,
        Ok((score, from, breaks)) => {
            guard |= breaks && counts_entirely;
            let from = if asks_for_skill { Verdict::Compared } else { from };
            let own = match &from {
                Verdict::Own(own) => own.clone(),
                _ => mark.clone(),
            };
            let mark = node.min_score.map_or(own, Decimal::exact);
            let passes = match from {
                Verdict::Stated(passes) => passes,
                _ => score >= mark,
            };
            if node.negate {
                let score = whole(1) - score;
                let is_compared = node.min_score.is_some() || matches!(from, Verdict::Compared);
                State::Decided { passes: if is_compared { score >= mark } else { !passes }, score }
            } else {
                State::Decided { score, passes }
            }
        }
    };
    End { state, guard, required: node.required, weight: node.weight.exact() }
}

/// `counts`: whether the verdicts of members count, as in a case; a written mark is compared with the mean alone.
fn graded(kind: &Kind, counts: bool, threshold: &Exact) -> Result<Graded, State> {
    let share = |part: u8, all: u8| ratio(part.into(), all.into());
    Ok(match kind {
        Kind::Plain { hit, miss } => (share(*hit, hit + miss), Verdict::Compared, false),
        Kind::Guard { kept, broken } => (share(*kept, kept + broken), Verdict::Own(whole(1)), false),
        Kind::Forced { expected } => (share(1, expected + 1), Verdict::Stated(false), false),
        Kind::Skill { used } => (whole(i64::from(!used)), Verdict::Own(whole(1)), false),
        Kind::Undecided => return Err(State::Undecided),
        Kind::Error => return Err(State::Error),
        Kind::Average { members, weights } => {
            let mut ends: Vec<End> = members.iter().map(|member| end(member, threshold)).collect();
            for (end, weight) in ends.iter_mut().zip(weights) {
                if let Some(weight) = weight {
                    end.weight = weight.exact();
                }
            }
            if let Some(graded) = before(&ends, |end| end.required || end.weight > whole(0)) {
                return graded;
            }
            let scores: Vec<_> = ends.iter().filter_map(|end| Some((end.weight.clone(), end.decided()?))).collect();
            let score = mean(scores.iter().map(|(weight, (score, _))| (weight.clone(), (*score).clone())));
            let score = score.ok_or(State::Undecided)?;
            let passes = counted(scores.iter().map(|(weight, (score, passes))| (weight, *score, *passes)), threshold);
            let follows = !counts || passes == (score >= *threshold);
            let from = if follows { Verdict::Compared } else { Verdict::Stated(passes) };
            (score, from, false)
        }
        Kind::Share { members, threshold: own } => {
            let ends: Vec<End> = members.iter().map(|member| end(member, threshold)).collect();
            if let Some(graded) = before(&ends, |end| end.required) {
                return graded;
            }
            let decided = ends.iter().filter(|end| end.weight > whole(0)).filter_map(End::decided);
            let (passing, count) = (decided.clone().filter(|(_, passes)| *passes).count(), decided.count());
            if count == 0 {
                return Err(State::Undecided);
            }
            (ratio(passing, count), Verdict::Own(own.exact()), false)
        }
    })
}

/// What decides a composite before its members are combined.
fn before(ends: &[End], counts: impl Fn(&End) -> bool) -> Option<Result<Graded, State>> {
    if ends.iter().any(End::is_error) {
        return Some(Err(State::Error));
    }
    if ends.iter().any(|end| end.is_broken() && counts(end)) {
        return Some(Ok((whole(0), Verdict::Stated(false), true)));
    }
    ends.iter().all(|end| end.state == State::Undecided).then_some(Err(State::Undecided))
}

/// The weighted mean; `None` where the weights are 0.
pub(crate) fn mean(values: impl Iterator<Item = (Exact, Exact)>) -> Option<Exact> {
    let (mut sum, mut weights) = (whole(0), whole(0));
    for (weight, value) in values {
        sum += weight.clone() * value;
        weights += weight;
    }
    (weights > whole(0)).then(|| sum / weights)
}

/// Whether the scores, as they count towards passing, reach the threshold: a score that passes counts as the threshold at least, and one
/// that fails as less than it, by less than any number.
pub(crate) fn counted<'s>(scores: impl Iterator<Item = (&'s Exact, &'s Exact, bool)>, threshold: &Exact) -> bool {
    let (mut above, mut just_below, mut weights) = (whole(0), false, whole(0));
    for (weight, score, passes) in scores.filter(|(weight, ..)| **weight > whole(0)) {
        let distance = score - threshold;
        match (passes, distance >= whole(0)) {
            (true, true) | (false, false) => above += weight * distance,
            (true, false) => {}
            (false, true) => just_below = true,
        }
        weights += weight;
    }
    weights > whole(0) && (above > whole(0) || above == whole(0) && !just_below)
}

/// How a trial, or a turn, ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trial {
    Error,
    /// A guard is broken.
    Broken {
        score: Exact,
    },
    /// Nothing is decided.
    Nothing,
    Scored {
        score: Exact,
        passes: bool,
    },
}

/// A trial whose graders end like this.
pub(crate) fn trial(ends: &[End], threshold: &Exact, is_tasks: bool) -> Trial {
    let every_verdict = is_tasks && *threshold >= whole(1);
    let is_error = |end: &End| if every_verdict { end.state == State::Error } else { end.is_error() };
    if ends.iter().any(is_error) {
        return Trial::Error;
    }
    let weight = |end: &End| if is_tasks { whole(1) } else { end.weight.clone() };
    let scores: Vec<_> = ends.iter().filter_map(|end| Some((weight(end), end.decided()?))).collect();
    let score = mean(scores.iter().map(|(weight, (score, _))| (weight.clone(), (*score).clone())));
    if !every_verdict && ends.iter().any(End::is_broken) {
        let is_required = ends.iter().any(|end| end.is_broken() && end.required);
        return Trial::Broken { score: if is_required { whole(0) } else { score.unwrap_or_else(|| whole(0)) } };
    }
    let Some(score) = score else { return Trial::Nothing };
    let passes = if every_verdict {
        scores.iter().all(|(_, (_, passes))| *passes)
    } else {
        counted(scores.iter().map(|(weight, (score, passes))| (weight, *score, *passes)), threshold)
    };
    Trial::Scored { score, passes }
}
