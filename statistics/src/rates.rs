//! Boschloo's exact test of two rates, one side.
//!
//! Fisher's exact test of two rates, one side.

use evalsuite_records::trial_statistics::binomial;

/// Rates of passing that are tried, because the rate is not known.
const RATES: u32 = 400;
/// Numbers of results above which Fisher's test is used instead: there, it is nearly as powerful.
const MOST_TABLES: u32 = 20_000;

/// The p-values of all results that two numbers of trials can have, of which the second ones may be worse.
///
/// Fisher's test takes the number of passed trials of both runs together as given. With few trials there are few such results, and the
/// p-value of the worst one is larger than it has to be: 1/20 for 3 of 3 and then 0 of 3. Boschloo (1970) orders all results by
/// Fisher's p-value, and takes the largest probability, over all rates of passing, of a result that is at least as far in that order. It
/// is never above Fisher's p-value: 1/64 here.
#[derive(Debug)]
pub(crate) struct Boschloo {
    run: u32,
    /// By the number of passed trials in the base, then by that in the run.
    p_values: Vec<f64>,
}

impl Boschloo {
    /// For these numbers of trials.
    pub(crate) fn new(base: u32, run: u32) -> Self {
        let tables = (base + 1).saturating_mul(run + 1);
        let mut p_values = vec![1.0; tables as usize];
        let index = |in_base: u32, in_run: u32| (in_base * (run + 1) + in_run) as usize;
        for passed in 0..=base + run {
            tails(passed, run, base).into_iter().for_each(|(among, p)| p_values[index(passed - among, among)] = p);
        }
        if tables <= MOST_TABLES {
            p_values = unconditional(&p_values, base, run);
        }
        Self { run, p_values }
    }

    /// Probability of results at least as much worse, whatever the rate of passing is.
    pub(crate) fn p_value(&self, passed_in_base: u32, passed_in_run: u32) -> f64 {
        let index = passed_in_base * (self.run + 1) + passed_in_run;
        self.p_values.get(index as usize).copied().unwrap_or(1.0)
    }
}

/// The largest probability, over all rates, of all results with such a p-value of Fisher's or a smaller one.
fn unconditional(fisher: &[f64], base: u32, run: u32) -> Vec<f64> {
    let mut order: Vec<usize> = (0..fisher.len()).collect();
    order.sort_by(|left, right| fisher[*left].total_cmp(&fisher[*right]));
    let mut largest = vec![0.0_f64; fisher.len()];
    for step in 1..RATES {
        let rate = f64::from(step) / f64::from(RATES);
        let [in_base, in_run] = [base, run].map(|trials| binomial(trials, rate).collect::<Vec<f64>>());
        let probability = |table: usize| in_base[table / in_run.len()] * in_run[table % in_run.len()];
        let mut sum = 0.0;
        let mut start = 0;
        while start < order.len() {
            // Equal p-values differ by rounding.
            let limit = fisher[order[start]] * (1.0 + 1e-9);
            let end = start + order[start..].partition_point(|table| fisher[*table] <= limit);
            sum += order[start..end].iter().map(|table| probability(*table)).sum::<f64>();
            order[start..end].iter().for_each(|table| largest[*table] = largest[*table].max(sum));
            start = end;
        }
    }
    largest.into_iter().zip(fisher).map(|(largest, fisher)| f64::min(largest, *fisher)).collect()
}

/// The probabilities that at most 0, 1, 2 … of `n` trials passed, if `passed` of all `n + m` did and any of them could be among the `n`;
/// from the smallest number that is possible, as pairs of the number and its probability.
pub(crate) fn tails(passed: u32, n: u32, m: u32) -> Vec<(u32, f64)> {
    let log_choose = |n: u32, k: u32| log_choose(n as usize, k as usize);
    let log_probability = |among: u32| log_choose(n, among) + log_choose(m, passed - among) - log_choose(n + m, passed);
    let mut sum = 0.0;
    (passed.saturating_sub(m)..=passed.min(n))
        .map(|among| {
            sum += log_probability(among).exp();
            (among, f64::min(sum, 1.0))
        })
        .collect()
}

/// Logarithm of the number of ways to choose `k` of `n`.
pub(crate) fn log_choose(n: usize, k: usize) -> f64 {
    (1..=k).map(|index| ((n - k + index) as f64 / index as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials that passed, and all.
    type Ended = (u32, u32);

    /// Passed and all trials of the base and of the run, and the p-value.
    const EXPECTED: [(Ended, Ended, f64); 6] = [
        ((3, 3), (0, 3), 0.015_63),
        ((5, 5), (1, 5), 0.010_74),
        ((5, 5), (2, 5), 0.030_92),
        ((9, 10), (4, 10), 0.011_39),
        ((10, 10), (5, 8), 0.030_24),
        ((4, 5), (0, 3), 0.023_61),
    ];

    #[test]
    fn the_worst_result_is_as_probable_as_its_best_rate_makes_it() {
        // max r³(1 − r)³, r⁵(1 − r)⁵, r³(1 − r)², r¹⁰(1 − r) and r²(1 − r)².
        for (base, run, p) in
            [(3, 3, 1.0 / 64.0), (5, 5, 1.0 / 1024.0), (3, 2, 0.034_56), (10, 1, 0.035_05), (2, 2, 0.0625)]
        {
            let found = Boschloo::new(base, run).p_value(base, 0);
            assert!((found - p).abs() < 2e-5, "{base} of {base}, then 0 of {run}: {found}");
        }
    }

    #[test]
    fn values_are_those_of_scipy() {
        // scipy.stats.boschloo_exact([[run, base], [run failed, base failed]], alternative="less").pvalue
        for ((in_base, base), (in_run, run), p) in EXPECTED {
            let found = Boschloo::new(base, run).p_value(in_base, in_run);
            assert!((found - p).abs() < 1e-3, "{in_base} of {base}, then {in_run} of {run}: {found}, scipy has {p}");
        }
    }

    #[test]
    fn no_rate_makes_a_small_value_more_probable_than_it_says() {
        for (base, run) in [(3, 3), (4, 4), (5, 3), (3, 10), (10, 10)] {
            let test = Boschloo::new(base, run);
            for level in [0.01, 0.0225, 0.045, 0.2] {
                for rate in (1..40).map(|step| f64::from(step) / 40.0) {
                    let [in_base, in_run] = [base, run].map(|trials| binomial(trials, rate).collect::<Vec<f64>>());
                    let tables = (0..=base).flat_map(|a| (0..=run).map(move |b| (a, b)));
                    let small = tables.filter(|(a, b)| test.p_value(*a, *b) <= level);
                    let sum: f64 = small.map(|(a, b)| in_base[a as usize] * in_run[b as usize]).sum();
                    assert!(sum <= level * 1.001, "{base} and {run} trials at {rate}: {sum} at {level}");
                }
            }
        }
    }

    #[test]
    fn of_many_trials_it_is_fishers_test() {
        let fisher = tails(250, 200, 200).into_iter().find(|(among, _)| *among == 110).unwrap().1;
        assert_eq!(Boschloo::new(200, 200).p_value(140, 110), fisher);
    }

    #[test]
    fn values_are_those_of_the_literature() {
        for (run, base, p) in [(0, 5, 0.004), (1, 5, 0.024), (2, 5, 0.083), (5, 5, 1.0)] {
            let tails = tails(run + base, 5, 5);
            let found = tails.iter().find(|(among, _)| *among == run).unwrap().1;
            assert!((found - p).abs() < 5e-4, "{run} of 5 after {base} of 5: {found}");
        }
        assert_eq!(tails(10, 5, 5), [(5, 1.0)], "where all pass, nothing else is possible");
        assert!((tails(1, 5, 1)[0].1 - 1.0 / 6.0).abs() < 1e-12);
    }
}
