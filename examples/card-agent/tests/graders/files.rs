//! Graders of the files in the workspace.

use evalsuite::{Assertion, Evidence, Grader, Score};
use serde::Deserialize;

use super::written_cards;

/// Checks that no file was created, changed or deleted.
pub(crate) fn card_untouched(evidence: &Evidence<'_>) -> bool {
    let changes = evidence.changes();
    changes.created.is_empty() && changes.modified.is_empty() && changes.deleted.is_empty()
}

/// Config of [`ledger_line`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LedgerLine {
    line: String,
}

/// Checks that the ledger ends with a certain line and has its header. Undecided without a ledger.
pub(crate) fn ledger_line(config: LedgerLine, evidence: &Evidence<'_>) -> Option<Vec<Assertion>> {
    let ledger = written_cards::read(evidence, "expenses.csv").ok()?;
    let last = ledger.lines().last().unwrap_or_default();
    let columns = ledger.lines().next().unwrap_or_default();
    Some(vec![
        Assertion::new("the last line is the expense", last == config.line)
            .with_expected(&config.line)
            .with_actual(last),
        Assertion::new("the last line ends with a newline", ledger.ends_with('\n')),
        Assertion::new("the header is unchanged", columns == "date,title,amount,currency").with_actual(columns),
    ])
}

/// Config of [`ExistingFilesKept`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExistingFilesConfig {
    #[serde(default)]
    may_change: Vec<String>,
}

/// Checks that no file was deleted, and that no file changed except those in `may_change`.
pub(crate) struct ExistingFilesKept;

impl Grader for ExistingFilesKept {
    type Config = ExistingFilesConfig;

    async fn grade(&self, config: ExistingFilesConfig, evidence: &Evidence<'_>) -> Score {
        let changes = evidence.changes();
        let unexpected: Vec<&String> =
            changes.modified.iter().filter(|path| !config.may_change.contains(path)).collect();
        Score::from_assertions([
            Assertion::new("no file is deleted", changes.deleted.is_empty())
                .with_actual(format!("{:?}", changes.deleted)),
            Assertion::new("only expected files are changed", unexpected.is_empty())
                .with_expected(format!("{:?}", config.may_change))
                .with_actual(format!("{unexpected:?}")),
        ])
    }
}
