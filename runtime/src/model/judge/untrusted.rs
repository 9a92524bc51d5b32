//! Texts of the agent in prompts.

/// What a judge is told about such texts.
pub(crate) const UNTRUSTED: &str = include_str!("untrusted.txt");

/// What the agent wrote, between marks that it has not written itself. They do not depend on it otherwise: paths in it
/// may be others when a recording is replayed.
pub(crate) fn fenced(content: &str) -> String {
    let is_free = |mark: &u32| !content.contains(&format!("untrusted {mark}>"));
    let mark = (1..=u32::MAX).find(is_free).unwrap_or(u32::MAX);
    format!("<untrusted {mark}>\n{content}\n</untrusted {mark}>")
}
