//! What the documents say about the error rates of verdicts, compared with what the command says about made-up agents.

#[allow(dead_code, reason = "the other tables of the benchmark are not drawn here")]
#[path = "../../benches/verdicts"]
mod verdicts {
    pub(crate) mod agent;
    pub(crate) mod alike;
    pub(crate) mod bounds;
    pub(crate) mod claims;
    pub(crate) mod command;
    pub(crate) mod errors;
    pub(crate) mod histories;
    pub(crate) mod intervals;
    pub(crate) mod judges;
    pub(crate) mod lift;
    pub(crate) mod pairs;
    pub(crate) mod reruns;
    pub(crate) mod run_files;
    pub(crate) mod scores;
    pub(crate) mod sequential;
    pub(crate) mod tables;
}

use std::fs;
use std::path::Path;

use evalsuite_needs::slow;

const MARK: &str = "<!-- claims: drawn by `cargo bench -p cargo-evalsuite --bench verdicts -- claims` -->\n\n";

#[slow(hostile)]
#[test]
fn the_documents_show_what_is_measured() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/verdicts/README.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, after) = text.split_once(MARK).expect("the README of the bench marks the table of claims");
    let shown: String = after.split_inclusive('\n').take_while(|line| line.starts_with('|')).collect();
    if std::env::var_os("UPDATE_README").is_some() {
        let (table, rest) = (verdicts::claims::table(), &after[shown.len()..]);
        fs::write(&file, format!("{before}{MARK}{table}{rest}")).unwrap();
        return;
    }
    // The first simulations of each claim, of those that are shown.
    let measured = verdicts::claims::measured(verdicts::claims::FEW);
    let first = |row: &str| {
        let (claim, numbers) = row.split_once("` | ")?;
        let few = numbers.trim_end_matches(" |").rsplit(" | ").next()?;
        Some((format!("{claim}` |"), few.to_owned()))
    };
    let rows: Vec<(String, String)> = shown.lines().skip(2).filter_map(first).collect();
    assert_eq!(rows, measured, "UPDATE_README=1 updates the table");
}
