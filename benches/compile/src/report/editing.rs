//! The table of edits.

use super::table::Table;
use super::{count, number};
use crate::editing::EditSamples;
use crate::statistics::{median, minimum};

/// Prints the table.
pub(crate) fn editing(measured: &[EditSamples]) {
    println!("milliseconds from the edit of a case to the answer");
    let mut table = Table::new(["", "layout", "cases", "min", "median"]);
    for EditSamples { edit, layout, cases, seconds } in measured {
        let milliseconds = || seconds.iter().map(|seconds| seconds * 1e3);
        table.push(vec![
            (*edit).to_owned(),
            (*layout).to_owned(),
            count(*cases),
            number(minimum(milliseconds()), 0),
            number(median(milliseconds()), 0),
        ]);
    }
    print!("{table}");
}
