//! The answer of a trial as text.

use evalsuite_records::record::TrialRecord;

/// The answer of a trial; of a conversation, all that was said.
pub(crate) fn answer_of(trial: &TrialRecord) -> Option<String> {
    let said = match &trial.turns {
        Some(turns) if !turns.is_empty() => {
            let said = |(input, answer): (&str, Option<&str>)| {
                format!("user: {input}\n\nassistant: {}", answer.unwrap_or_default())
            };
            let turns: Vec<String> = turns.iter().map(|turn| said((&turn.input, turn.answer.as_deref()))).collect();
            trial.answer.as_ref().map(|_| turns.join("\n\n"))
        }
        _ => trial.answer.clone(),
    };
    said.map(|text| if trial.answer_truncated { format!("{text}\n[cut: the record has no more of it]") } else { text })
}
