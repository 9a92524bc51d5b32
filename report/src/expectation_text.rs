//! What an assertion expects, as its author wrote it.

use evalsuite_records::record::{Assertion, GraderRecord};

/// The text of an assertion. A grader of type `rubrics` puts the id of the criterion before it, which is left out.
pub(crate) fn expectation_text<'a>(grader: &GraderRecord, assertion: &'a Assertion) -> &'a str {
    let with_id = assertion.text.strip_prefix('[').filter(|_| grader.grader_type == "rubrics");
    with_id.and_then(|text| Some(text.split_once("] ")?.1)).unwrap_or(&assertion.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_rubrics_are_left_out() {
        let mut grader = GraderRecord::default();
        let assertion = Assertion::new("[expectation-1] Every field [x] is filled.", true);
        assert_eq!(expectation_text(&grader, &assertion), assertion.text);
        grader.grader_type = "rubrics".to_owned();
        assert_eq!(expectation_text(&grader, &assertion), "Every field [x] is filled.");
        let plain = Assertion::new("Polite", true);
        assert_eq!(expectation_text(&grader, &plain), "Polite");
    }
}
