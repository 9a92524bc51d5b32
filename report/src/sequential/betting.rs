//! Evidence against a hypothesis about a mean, by betting: no crate does this for batches of cases that differ.

/// What the observations are about: how they are scaled, and which mean the bets expect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    /// The mean, above 0, that the bets expect.
    pub(super) expected: f64,
    /// The smallest observation is at least minus this.
    pub(super) lowest: f64,
    /// Mean square of the weights of the observations, at most 1.
    pub(super) square_scale: f64,
}

/// Second moments of outcomes that differ rarely, sometimes and often. The first bets are on all three.
const FIRST_SQUARES: [f64; 3] = [0.2, 0.3, 0.45];
/// What later bets expect before they have seen anything, and how many observations this counts for.
const PRIOR: (f64, f64) = (0.25, 40.0);
/// Largest share of the capital that an observation may take.
pub(super) const MOST: f64 = 0.9;

/// Capital of a player who bets that a mean is above 0: an e-process against "the mean is at most 0".
///
/// An observation y multiplies the capital of a bet λ by 1 + λy. If the means of independent observations are at most 0 *on average*, the
/// product of a round has an expectation of at most 1, because λ is the same for the whole round: ∏(1 + λμᵢ) ≤ (1 + λμ̄)ⁿ. By Ville's
/// inequality, the capital of such a player ever reaches 1/α with a probability of at most α, whenever one stops. λ follows from
/// earlier rounds only; in the first one, the capital is spread over three bets. Source: Waudby-Smith & Ramdas (2024), *Estimating means
/// of bounded random variables by betting*, JRSS-B 86(1).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Betting {
    bounds: Bounds,
    /// Bets, and the logarithms of their shares of the capital.
    bets: [(f64, f64); FIRST_SQUARES.len()],
    count: f64,
    squares: f64,
}

impl Betting {
    /// `before`: logarithm of the capital to start with.
    pub(super) fn new(bounds: Bounds, before: f64) -> Self {
        let bet = |square| (bounds.bet(square * bounds.square_scale), before);
        Self { bounds, bets: FIRST_SQUARES.map(bet), count: 0.0, squares: 0.0 }
    }

    /// Adds an observation of the current round.
    pub(super) fn add(&mut self, observation: f64) {
        self.bets.iter_mut().for_each(|(bet, log)| *log += (*bet * observation).ln_1p());
        self.count += 1.0;
        self.squares += observation * observation;
    }

    /// Chooses the bets of the next round.
    pub(super) fn end_round(&mut self) {
        let (square, weight) = PRIOR;
        let square = (weight * square * self.bounds.square_scale + self.squares) / (weight + self.count);
        let next = self.bounds.bet(square);
        self.bets.iter_mut().for_each(|(bet, _)| *bet = next);
    }

    /// Logarithm of the capital: of the e-value.
    pub(super) fn log_capital(&self) -> f64 {
        let largest = self.bets.iter().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.bets.iter().map(|(_, log)| (log - largest).exp()).sum();
        largest + (sum / self.bets.len() as f64).ln()
    }
}

impl Bounds {
    /// The bet that grows fastest if the observations have the expected mean and this second moment.
    fn bet(self, square: f64) -> f64 {
        (self.expected / square.max(self.expected * self.expected)).min(MOST / self.lowest)
    }
}
