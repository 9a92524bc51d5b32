//! The measures of gates.

/// The measure of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// `pass_rate`: share of the cases that passed, 0 to 1. A case with an error did not pass; skipped cases do not count.
    PassRate,
    /// `lower(pass_rate)`: lower end of Wilson's 95 % interval of that rate.
    LowerPassRate,
    /// `score`: mean over the cases of the mean score of their trials, 0 to 1.
    Score,
    /// `cost`: US dollars of agents and judges together, of all trials.
    Cost,
    /// `time`: seconds that agents worked, of all trials.
    Time,
    /// `p50(time)`: seconds that half of the trials do not exceed.
    MedianTime,
    /// `p95(time)`: seconds that 95 % of the trials do not exceed.
    P95Time,
    /// `lift`: lower end of the 95 % interval of the mean difference between the pass rates of cases with a skill and without it, −1 to 1.
    Lift,
    /// `lift(score)`: the same of their scores.
    ScoreLift,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::PassRate,
        Self::LowerPassRate,
        Self::Score,
        Self::Cost,
        Self::Time,
        Self::MedianTime,
        Self::P95Time,
        Self::Lift,
        Self::ScoreLift,
    ];

    /// As it is written in gates.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PassRate => "pass_rate",
            Self::LowerPassRate => "lower(pass_rate)",
            Self::Score => "score",
            Self::Cost => "cost",
            Self::Time => "time",
            Self::MedianTime => "p50(time)",
            Self::P95Time => "p95(time)",
            Self::Lift => "lift",
            Self::ScoreLift => "lift(score)",
        }
    }

    /// Whether it is a rate or a score from 0 to 1, or a difference of them; higher is better.
    pub fn is_share(self) -> bool {
        matches!(self, Self::PassRate | Self::LowerPassRate | Self::Score | Self::Lift | Self::ScoreLift)
    }

    /// Whether it is a difference between two targets, from −1 to 1.
    pub fn is_lift(self) -> bool {
        matches!(self, Self::Lift | Self::ScoreLift)
    }

    /// Whether it is in seconds; lower is better.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::MedianTime | Self::P95Time)
    }
}
