//! The table of single tests in their own processes.

use std::collections::BTreeSet;

use super::table::Table;
use super::{BASE, count, number, ratio};
use crate::startup::StartupSamples;
use crate::statistics::{median, minimum};

/// Prints the table.
pub(crate) fn startup(measured: &[StartupSamples]) {
    println!("milliseconds of a single test in its own process");
    let mut table = Table::new(["", "cases", "min", "median", "x min", "x median"]);
    let names: BTreeSet<&str> = measured.iter().map(|measured| measured.competitor).collect();
    for name in names {
        for one in measured.iter().filter(|one| one.competitor == name) {
            let is_base = |other: &&StartupSamples| other.competitor == BASE && other.cases == one.cases;
            let base = measured.iter().find(is_base).map_or(&[][..], |base| &base.seconds);
            let (least, middle) = (minimum(milliseconds(&one.seconds)), median(milliseconds(&one.seconds)));
            table.push(vec![
                name.to_owned(),
                count(one.cases),
                number(least, 2),
                number(middle, 2),
                ratio(least, minimum(milliseconds(base))),
                ratio(middle, median(milliseconds(base))),
            ]);
        }
    }
    print!("{table}");
    for StartupSamples { competitor, cases, failure, .. } in measured {
        if let Some(why) = failure {
            println!("  {competitor} with {} cases: {why}", count(*cases));
        }
    }
}

fn milliseconds(seconds: &[f64]) -> impl Iterator<Item = f64> {
    seconds.iter().map(|seconds| seconds * 1e3)
}
