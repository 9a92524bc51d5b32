//! Text of the agent in prompts of judges.

/// The instruction about such text in system prompts.
pub(crate) const UNTRUSTED: &str = include_str!("untrusted.txt");

/// Text of the agent between marks that do not occur in the text. The marks do not depend on the text in any other way: paths in
/// the text may differ when a cassette is replayed.
pub(crate) fn fenced(content: &str) -> String {
    let is_free = |mark: &u32| !content.contains(&format!("untrusted {mark}>"));
    let mark = (1..=u32::MAX).find(is_free).unwrap_or(u32::MAX);
    format!("<untrusted {mark}>\n{content}\n</untrusted {mark}>")
}
