//! Tables of builds: one per number of cases, and one with the cost per case.

use std::collections::BTreeSet;

use super::table::Table;
use super::{BASE, count, number, ratio};
use crate::builds::{BuildSamples, Sample};
use crate::statistics::{median, minimum};

/// Prints the tables.
pub(crate) fn builds(measured: &[BuildSamples], runs: usize) {
    let sizes: BTreeSet<usize> = measured.iter().map(|measured| measured.cases).collect();
    let rounds = if runs == 1 { "1 round".to_owned() } else { format!("{runs} rounds") };
    for size in &sizes {
        let of_size: Vec<&BuildSamples> = measured.iter().filter(|measured| measured.cases == *size).collect();
        println!("{} cases, {rounds}, seconds of `cargo test --no-run`", count(*size));
        print!("{}", comparison("test source touched", &of_size, |measured| &measured.touch));
        print!("{}", comparison("one case edited", &of_size, |measured| &measured.edit));
        print!("{}", first(&of_size));
        if of_size.iter().any(|measured| is_fresh(&measured.edit)) {
            println!("  * nothing to build: the file is read when the test runs");
        }
        for BuildSamples { competitor, failure, .. } in of_size {
            if let Some(why) = failure {
                println!("  {competitor}: {why}");
            }
        }
        println!();
    }
    if let Some(table) = costs(measured, &sizes.into_iter().collect::<Vec<_>>()) {
        print!("{table}");
    }
}

/// One row per competitor, with ratios to the hand-written tests.
fn comparison(what: &str, measured: &[&BuildSamples], samples: fn(&BuildSamples) -> &[Sample]) -> Table {
    let mut table = Table::new([what, "min", "median", "cpu", "x min", "x median", "x cpu"]);
    let base = figures(measured.iter().find(|one| one.competitor == BASE).map_or(&[], |one| samples(one)));
    for one in measured {
        let figures = figures(samples(one));
        let mark = if is_fresh(samples(one)) { "*" } else { "" };
        let mut row = vec![one.competitor.to_owned() + mark];
        row.extend(figures.map(|figure| number(figure, 2)));
        row.extend(figures.iter().zip(base).map(|(figure, base)| ratio(*figure, base)));
        table.push(row);
    }
    table
}

/// The first builds, one of each package.
fn first(measured: &[&BuildSamples]) -> Table {
    let mut table = Table::new(["first build", "once"]);
    for one in measured {
        table.push(vec![one.competitor.to_owned(), number(one.first.map(|sample| sample.seconds), 2)]);
    }
    table
}

/// Minimum and median of the seconds, and median of the processor time.
fn figures(samples: &[Sample]) -> [Option<f64>; 3] {
    let processor = samples.iter().filter_map(|sample| sample.processor_seconds);
    [minimum(seconds(samples)), median(seconds(samples)), median(processor)]
}

/// The cost of each additional case in a build after the source was touched, from the smallest number of cases to each larger one.
fn costs(measured: &[BuildSamples], sizes: &[usize]) -> Option<String> {
    let (smallest, larger) = sizes.split_first()?;
    if larger.is_empty() {
        return None;
    }
    let mut text = format!("microseconds per case beyond {}, test source touched\n", count(*smallest));
    let mut head = vec![String::new()];
    for size in larger {
        head.extend([format!("{} min", count(*size)), "median".to_owned(), "cpu".to_owned()]);
    }
    let mut table = Table::new(head);
    let mut names: Vec<&str> = measured.iter().map(|measured| measured.competitor).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    for name in names {
        let of = |size: usize| measured.iter().find(|measured| measured.competitor == name && measured.cases == size);
        let mut row = vec![name.to_owned()];
        for size in larger {
            let small = of(*smallest).map_or([None; 3], |measured| figures(&measured.touch));
            let large = of(*size).map_or([None; 3], |measured| figures(&measured.touch));
            row.extend(small.iter().zip(large).map(|(small, large)| {
                let slope = small.zip(large).map(|(small, large)| (large - small) * 1e6 / (size - smallest) as f64);
                number(slope, 0)
            }));
        }
        table.push(row);
    }
    text.push_str(&table.to_string());
    Some(text)
}

fn seconds(samples: &[Sample]) -> impl Iterator<Item = f64> {
    samples.iter().map(|sample| sample.seconds)
}

fn is_fresh(samples: &[Sample]) -> bool {
    !samples.is_empty() && samples.iter().all(|sample| sample.fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(competitor: &'static str, cases: usize, seconds: &[f64]) -> BuildSamples {
        let sample = |seconds: &f64| Sample { seconds: *seconds, processor_seconds: None, fresh: false };
        let touch: Vec<Sample> = seconds.iter().map(sample).collect();
        BuildSamples { competitor, cases, failure: None, first: None, edit: touch.clone(), touch }
    }

    #[test]
    fn ratios_are_relative_to_hand_written_tests() {
        let (base, other) = (measured("by-hand", 100, &[1.0, 3.0, 2.0]), measured("other", 100, &[3.0, 4.0, 5.0]));
        let table = comparison("touch", &[&base, &other], |measured| &measured.touch).to_string();
        let last: Vec<&str> = table.lines().last().expect("a row").split_whitespace().collect();
        assert_eq!(last, ["other", "3.00", "4.00", "-", "3.00", "2.00", "-"]);
    }

    #[test]
    fn the_cost_per_case_is_the_slope() {
        let all = [measured("a", 100, &[1.0]), measured("a", 1_100, &[1.5]), measured("b", 100, &[1.0])];
        let text = costs(&all, &[100, 1_100]).expect("two sizes");
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[2], ["a", "500", "500", "-"]);
        assert_eq!(rows[3], ["b", "-", "-", "-"]);
    }
}
