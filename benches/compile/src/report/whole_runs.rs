//! The table of runs of all tests.

use super::table::Table;
use super::{BASE, count, number, ratio};
use crate::statistics::minimum;
use crate::whole_runs::WholeRunSamples;

/// Prints the table: the cost of a case, and its ratio to a hand-written test.
pub(crate) fn whole_runs(measured: &[WholeRunSamples]) {
    println!("milliseconds of processor time per case, all tests of a package, best run");
    let mut table = Table::new(["", "cases", "one process", "x", "regrade", "nextest", "x"]);
    for one in measured {
        let base = measured.iter().find(|other| other.competitor == BASE && other.cases == one.cases);
        let cost = |of: &WholeRunSamples, seconds: &[f64]| {
            #[allow(clippy::cast_precision_loss, reason = "no package has 2^53 cases")]
            minimum(seconds.iter().map(|seconds| seconds * 1e3 / of.cases as f64))
        };
        let (own, nextest) = (cost(one, &one.one_process), cost(one, &one.nextest));
        table.push(vec![
            one.competitor.to_owned(),
            count(one.cases),
            number(own, 3),
            ratio(own, base.and_then(|base| cost(base, &base.one_process))),
            number(cost(one, &one.regrade), 3),
            number(nextest, 3),
            ratio(nextest, base.and_then(|base| cost(base, &base.nextest))),
        ]);
    }
    print!("{table}");
    for WholeRunSamples { competitor, cases, failure, .. } in measured {
        if let Some(why) = failure {
            println!("  {competitor} with {} cases: {why}", count(*cases));
        }
    }
}
