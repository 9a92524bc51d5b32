//! Compares the prompt of a judge with that of the reference.
//!
//! The wording around the sections is our own, so only the sections are compared, by name. A prompt that the author wrote
//! has no sections and has to be equal.

use std::collections::BTreeMap;

/// Whether two prompts have the same sections.
pub fn same(theirs: &str, ours: &str) -> bool {
    let (theirs, ours) = (sections(theirs), sections(ours));
    theirs == ours
}

/// Sections by name, and the whole text under the empty name if there are none.
fn sections(prompt: &str) -> BTreeMap<String, String> {
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::new();
    for line in prompt.replace("\r\n", "\n").lines() {
        let heading = line.strip_prefix("[[ ## ").and_then(|line| line.strip_suffix(" ## ]]"));
        if let Some(heading) = heading {
            heading.clone_into(&mut name);
            continue;
        }
        // Ours marks the text of the agent; the reference ends with a sentence that ours has at the beginning.
        let is_mark = line.starts_with("<untrusted ") || line.starts_with("</untrusted ");
        if !is_mark && !line.starts_with("For each rubric, ") && !line.starts_with("For each criterion, ") {
            let section = sections.entry(name.clone()).or_default();
            section.push_str(line);
            section.push('\n');
        }
    }
    if sections.len() > 1 || !name.is_empty() {
        sections.remove("");
    }
    for content in sections.values_mut() {
        *content = content.trim().to_owned();
    }
    sections.retain(|_, content| !content.is_empty());
    sections
}
