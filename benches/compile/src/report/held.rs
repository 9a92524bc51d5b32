//! The tables of held figures.

use super::table::Table;
use super::{number, ratio};
use crate::held::{Figures, Measured};

/// Lines of a table of sizes.
const LARGEST: usize = 20;

/// Prints sizes by section and by crate, and the held figures beside those of the last change.
#[allow(clippy::cast_precision_loss, reason = "no figure is near 2^53")]
pub(crate) fn held(measured: &Measured) {
    largest("section of a test program with one case", &measured.sizes.sections);
    largest("code in it, by crate", &measured.sizes.code);
    largest("library file", &measured.sizes.libraries);
    let mut table = Table::new(["held, in millions", "before", "now", "x"]);
    for name in measured.names() {
        let of = |figures: &Figures| figures.get(name).map(|figure| *figure as f64 / 1e6);
        let (before, now) = (of(&measured.expected), of(&measured.held));
        table.push(vec![name.clone(), number(before, 2), number(now, 2), ratio(now, before)]);
    }
    print!("{table}");
}

#[allow(clippy::cast_precision_loss, reason = "no size is near 2^53")]
fn largest(what: &str, sizes: &Figures) {
    let mut sorted: Vec<(&String, &u64)> = sizes.iter().collect();
    sorted.sort_by_key(|(_, bytes)| std::cmp::Reverse(**bytes));
    let mut table = Table::new([what, "MB"]);
    for (name, bytes) in sorted.into_iter().take(LARGEST) {
        table.push(vec![name.clone(), number(Some(*bytes as f64 / 1e6), 2)]);
    }
    println!("{table}");
}
