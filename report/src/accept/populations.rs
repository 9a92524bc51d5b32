//! How often the cases of a suite may pass, as far as accepted results tell.

use std::collections::BTreeMap;

use evalsuite_records::baseline::{AS_LIKELY, Beta, Counts, RESEMBLANCES, alike, log_likelihood, posterior};
use evalsuite_records::record::BaselineCase;
use fastrand::Rng;

/// How far the means of rates are from the observed one that are tried on either side, in standard errors of its logit, if all rates were equal.
const DISTANCES: [f64; 9] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0];
/// Shares of cases that do not always pass, and their rates, that are tried in suites whose other cases always do.
const SHARES: [f64; 10] = [0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8];
const RATES: [f64; 8] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9];
/// Trials that are as good as a rate that is known.
const MANY: f64 = 1e9;

/// A distribution of the rates of cases: beta distributions with the share of the cases that each has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Population(Vec<(f64, Beta)>);

/// A case whose trials pass with a probability that its own trials tell, and each further one (Pólya's urn).
#[derive(Debug, Clone, Copy)]
pub(super) struct Urn(Beta);

impl Population {
    pub(super) fn of(beta: Beta) -> Self {
        Self(vec![(1.0, beta)])
    }

    /// Cases that always pass, but for a share that has one rate.
    fn stable_but(share: f64, rate: f64) -> Self {
        Self(vec![(1.0 - share, [MANY, 0.0]), (share, [rate * MANY, (1.0 - rate) * MANY])])
    }

    /// What a case with these trials is: its urns with their probabilities, up to a factor.
    pub(super) fn urns(&self, counts: Counts) -> Vec<(f64, Urn)> {
        self.weights(counts).zip(&self.0).map(|(weight, (_, beta))| (weight, Urn(posterior(*beta, counts)))).collect()
    }

    /// How probable these trials are, in their order, in a case of each of the distributions and with its share.
    fn weights(&self, counts: Counts) -> impl Iterator<Item = f64> {
        self.0.iter().map(move |(share, beta)| share * log_likelihood(*beta, counts).exp())
    }

    fn log_likelihood(&self, lines: &BTreeMap<Counts, u32>) -> f64 {
        let of = |(counts, lines): (&Counts, &u32)| f64::from(*lines) * self.weights(*counts).sum::<f64>().ln();
        lines.iter().map(of).sum()
    }
}

impl Urn {
    /// One of a case's urns.
    pub(super) fn choose(urns: &[(f64, Self)], random: &mut Rng) -> Self {
        let [(_, only)] = urns else {
            let mut left = random.f64() * urns.iter().map(|(chance, _)| chance).sum::<f64>();
            let found = urns.iter().find(|(chance, _)| {
                left -= chance;
                left < 0.0
            });
            return found.or(urns.last()).map_or(Self([1.0, 1.0]), |(_, urn)| *urn);
        };
        *only
    }

    /// Draws a trial, and with it what is known of the next one.
    pub(super) fn draw(&mut self, random: &mut Rng) -> bool {
        let [passes, fails] = &mut self.0;
        let is_pass = random.f64() * (*passes + *fails) < *passes;
        *(if is_pass { passes } else { fails }) += 1.0;
        is_pass
    }
}

/// The populations that explain accepted results about as well as the best one does: 95 of 100 times, one of them has the true value of
/// what is computed from it (profile likelihood).
pub(super) fn plausible(lines: &[BaselineCase]) -> Vec<Population> {
    let alike = alike(lines);
    let sum = |of: fn(&BaselineCase) -> u32| lines.iter().map(|line| f64::from(of(line))).sum::<f64>();
    let (passed, trials) = (sum(|line| line.passed), sum(|line| line.trials));
    let (passed, failed) = (passed + 0.5, trials - passed + 0.5);
    let (logit, error) = ((passed / failed).ln(), (1.0 / passed + 1.0 / failed).sqrt());
    let logits = DISTANCES.iter().flat_map(|distance| [logit - distance * error, logit + distance * error]);
    let means = logits.map(|logit| 1.0 / (1.0 + f64::exp(-logit)));
    let betas = means.flat_map(|mean| RESEMBLANCES.map(|all| Population::of([mean * all, (1.0 - mean) * all])));
    let stable = SHARES.iter().flat_map(|share| RATES.map(|rate| Population::stable_but(*share, rate)));
    let of = |population: Population| (population.log_likelihood(&alike), population);
    let all: Vec<(f64, Population)> = betas.chain(stable).map(of).collect();
    let best = all.iter().map(|(likelihood, _)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
    all.into_iter().filter(|(likelihood, _)| *likelihood >= best - AS_LIKELY).map(|(_, it)| it).collect()
}
