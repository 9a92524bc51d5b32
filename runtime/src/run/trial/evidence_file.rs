//! `evidence.json`: the data to grade a trial again.

use crate::record::run_directory::layout::EVIDENCE;
use crate::run::trial::prepared::Prepared;

/// Writes the evidence next to the record. This happens before the graders run: they may break or never end.
pub(crate) fn write_evidence(prepared: &Prepared<'_>) {
    let evidence = prepared.cassette.evidence().transpose();
    let written = evidence.map_or(Ok(()), |bytes| prepared.trial.files().write(EVIDENCE, &bytes?));
    if let Err(error) = written {
        let path = prepared.trial.directory.join(EVIDENCE);
        prepared.trial.log.note("output_not_kept", format!("{}: {error}", path.display()));
    }
}

/// Writes it again with the replies of judges, where there are any.
pub(crate) fn add_judge_replies(prepared: &Prepared<'_>) {
    if prepared.cassette.has_replies() {
        write_evidence(prepared);
    }
}
