//! Examples of results, by which graders are tested.

use evalsuite_derive::{Keys, skip_empty};

use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::keys::{Keys as _, Type};
use crate::{Location, Object, ToolCall};

/// Results that a case, or one grader, has to pass or to fail.
///
/// ```
/// use evalsuite_schema::{Example, Examples, Location};
///
/// let mut examples = Examples::default();
/// examples.pass.push(Example::new(Location::new("case.yaml", 9, 7), "The refund of 19.90 is approved."));
/// assert!(!examples.is_empty());
/// ```
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "examples", what = "`examples`", by_hand)]
#[non_exhaustive]
pub struct Examples {
    /// Results that pass: a text is an answer without tool calls.
    #[key(Some(&EXAMPLE), "[The refund of 19.90 is approved.]")]
    #[key(empty(BlankValue, "is an empty list", "add a result, or delete the key"), by_hand, codes(BlankValue))]
    pub pass: Vec<Example>,
    /// Results that fail.
    #[key(Some(&EXAMPLE), "[The refund is rejected., {answer: Done., tool_calls: [{tool: delete_order}]}]")]
    #[key(empty(BlankValue, "is an empty list", "add a result, or delete the key"), by_hand, codes(BlankValue))]
    pub fail: Vec<Example>,
}

impl Examples {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pass.is_empty() && self.fail.is_empty()
    }
}

/// One result of an agent.
#[skip_empty(.., answer)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "example", what = "an example", by_hand)]
#[also(file: File, "./answers/approved.txt", "A file whose text is the answer.", codes(ConflictingKeys), by_hand)]
#[non_exhaustive]
pub struct Example {
    /// Where it is written.
    pub location: Location,
    /// The answer: text, or data, which becomes JSON.
    #[key(OneOf(&[AnyText, Data, List(&Any)]), "{total: 19.90}", or = "output", default = "no answer", by_hand)]
    #[key(codes(ConflictingKeys))]
    pub answer: String,
    /// The tools that the agent called before the answer.
    #[key(List(&Object(ToolCall::TABLE)), "[{tool: refund, input: {order: 1182}}]", default = "no calls")]
    pub tool_calls: Vec<ToolCall>,
    /// Files that the agent wrote: paths in its workspace, and their texts.
    #[key(Map(&AnyText), "{notes/order.txt: paid}", default = "no files", by_hand)]
    pub files: Object,
    /// Files that the agent removed from its workspace.
    #[key(List(&Text), "[notes/draft.txt]", default = "no files")]
    pub removed_files: Vec<String>,
}

impl Example {
    /// An answer without tool calls and files.
    pub fn new(location: Location, answer: impl Into<String>) -> Self {
        Self {
            location,
            answer: answer.into(),
            tool_calls: Vec::new(),
            files: Object::new(),
            removed_files: Vec::new(),
        }
    }
}

/// A result: its answer alone, or all of it.
const EXAMPLE: Type = Type::OneOf(&[Type::AnyText, Type::Object(Example::TABLE)]);
