//! Made-up agents: with which probability they pass each case of a suite.

use fastrand::Rng;

/// Agents by the rates with which they pass the cases of a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rates {
    /// Every case has this rate.
    All(f64),
    /// Any rate is as likely.
    Uniform,
    /// Half of the cases 0.85, half 0.3.
    EasyAndHard,
    /// All cases always pass, but for this share of them, which have a rate.
    StableBut(f64, f64),
    /// Half of the cases always pass, half never do.
    PassOrFail,
}

/// Populations of cases for an agent that does not change.
pub(crate) const POPULATIONS: [(&str, Rates); 10] = [
    ("uniform", Rates::Uniform),
    ("all 0.5", Rates::All(0.5)),
    ("all 0.7", Rates::All(0.7)),
    ("all 0.9", Rates::All(0.9)),
    ("all 0.98", Rates::All(0.98)),
    ("0.85 and 0.3", Rates::EasyAndHard),
    ("stable, 20 % at 0.5", Rates::StableBut(0.2, 0.5)),
    ("stable, 10 % at 0.05", Rates::StableBut(0.1, 0.05)),
    ("stable, 3 % at 0.1", Rates::StableBut(0.03, 0.1)),
    ("1 or 0", Rates::PassOrFail),
];

impl Rates {
    /// A rate for each of the cases.
    pub(crate) fn draw(self, cases: usize, random: &mut Rng) -> Vec<f64> {
        let rate = |random: &mut Rng| match self {
            Self::All(rate) => rate,
            Self::Uniform => random.f64(),
            Self::EasyAndHard if random.bool() => 0.85,
            Self::EasyAndHard => 0.3,
            Self::StableBut(share, rate) if random.f64() < share => rate,
            Self::StableBut(..) => 1.0,
            Self::PassOrFail => f64::from(u8::from(random.bool())),
        };
        (0..cases).map(|_| rate(random)).collect()
    }
}

/// When the trials of a case end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trials {
    /// After so many.
    All(usize),
    /// After so many, or with the first that passes.
    UntilPass(usize),
    /// After so many, or with the first that fails.
    UntilFailure(usize),
}

impl Trials {
    /// Trials of a case that pass with this probability.
    pub(crate) fn draw(self, rate: f64, random: &mut Rng) -> Vec<bool> {
        let (planned, last) = match self {
            Self::All(planned) => (planned, None),
            Self::UntilPass(planned) => (planned, Some(true)),
            Self::UntilFailure(planned) => (planned, Some(false)),
        };
        let mut trials = Vec::new();
        while trials.len() < planned && (trials.is_empty() || trials.last().copied() != last) {
            trials.push(random.f64() < rate);
        }
        trials
    }

    pub(crate) fn planned(self) -> usize {
        match self {
            Self::All(planned) | Self::UntilPass(planned) | Self::UntilFailure(planned) => planned,
        }
    }
}
