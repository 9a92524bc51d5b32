//! Graders that compare the answer with text.

use super::grader;
use crate::diagnostic::Code;
use crate::keys::range::PASS_MARK;
use crate::keys::{Key, Table, Type};

static VALUE: &[Key] = &[Key::new("value", Type::NotEmpty, "The text.", "\"19.90\"").required()];
static VALUES: &[Key] = &[Key::new("value", Type::Some(&Type::NotEmpty), "The texts.", "[refund, reimburse]")
    .required()
    .codes(&[Code::BlankValue])];

pub(crate) static CONTAINS: Table = grader(
    "contains",
    "`contains`",
    r#"{ type: contains, value: "19.90", required: true }"#,
    "The answer contains the text.",
    VALUE,
);
pub(crate) static CONTAINS_ANY: Table = grader(
    "contains-any",
    "`contains-any`",
    r#"{ type: contains-any, value: [refund, reimburse], weight: 2 }"#,
    "The answer contains at least one of the texts.",
    VALUES,
);
pub(crate) static CONTAINS_ALL: Table = grader(
    "contains-all",
    "`contains-all`",
    r#"{ type: contains-all, value: ["1182", "19.90"] }"#,
    "The answer contains all of the texts.",
    VALUES,
);
pub(crate) static ICONTAINS: Table = grader(
    "icontains",
    "`icontains`",
    r#"{ type: icontains, value: refund }"#,
    "Like `contains`, ignoring case.",
    VALUE,
);
pub(crate) static ICONTAINS_ANY: Table = grader(
    "icontains-any",
    "`icontains-any`",
    r#"{ type: icontains-any, value: [sorry, apologies] }"#,
    "Like `contains-any`, ignoring case.",
    VALUES,
);
pub(crate) static ICONTAINS_ALL: Table = grader(
    "icontains-all",
    "`icontains-all`",
    r#"{ type: icontains-all, value: [order, refund] }"#,
    "Like `contains-all`, ignoring case.",
    VALUES,
);
pub(crate) static STARTS_WITH: Table = grader(
    "starts-with",
    "`starts-with`",
    r#"{ type: starts-with, value: Dear }"#,
    "The trimmed answer starts with the text.",
    VALUE,
);
pub(crate) static ENDS_WITH: Table = grader(
    "ends-with",
    "`ends-with`",
    r#"{ type: ends-with, value: Your shop }"#,
    "The trimmed answer ends with the text.",
    VALUE,
);
pub(crate) static EQUALS: Table =
    grader("equals", "`equals`", r#"{ type: equals, value: approved }"#, "The trimmed answer is the text.", VALUE);

pub(crate) static REGEX: Table = grader(
    "regex",
    "`regex`", r#"{ type: regex, value: '\b19[.,]90\b', flags: i }"#,
    "The pattern matches anywhere in the answer.",
    &[
        Key::new("value", Type::NotEmpty, "The pattern, in the syntax of the crate `fancy-regex`.", "'\\b19[.,]90\\b'")
            .required()
            .codes(&[Code::InvalidRegex, Code::CheckedAtRunTime, Code::LimitExceeded]),
        Key::new("flags", Type::AnyText, "`i` ignores case, `m` lets `^` and `$` match at lines, `s` lets `.` match line ends, `x` allows blanks and comments, `u` has no effect on patterns, which are Unicode.", "i")
            .default("none")
            .codes(&[Code::InvalidRegex, Code::IgnoredRegexFlag]),
    ],
);

pub(crate) static SIMILAR: Table = grader(
    "similar",
    "`similar`",
    r#"{ type: similar, value: Refund approved., threshold: 0.9, ignore_case: true }"#,
    "The edit similarity of answer and text, 1 − edit distance / length of the longer text, reaches the pass mark. Insertions, \
     deletions and replacements of characters (Unicode scalar values) are counted after trimming both texts, and the count is exact. \
     If the product of the lengths of the differing parts exceeds 10^10 (two texts of 100 000 characters), the grader returns an error \
     rather than a guess. A runaway answer compared with a short `value` is well below that limit and scores close to 0. With \
     `max_distance` the score is 1 if the edit distance is at most that, else 0.",
    &[
        Key::new(
            "value",
            Type::NotEmpty,
            "The text to compare with. Required in the tasks layout.",
            "Refund approved.",
        )
        .default("the case's `expected_output`")
        .codes(&[Code::MissingGraderSetting]),
        Key::new("threshold", Type::Number(&PASS_MARK), "The pass mark: another spelling of `min_score`.", "0.9")
            .codes(&[Code::ConflictingKeys, Code::SettingConflict]),
        Key::new(
            "max_distance",
            Type::Integer(0, u64::MAX),
            "Largest edit distance that passes, in place of a pass mark.",
            "3",
        )
        .unit("characters")
        .codes(&[Code::SettingConflict]),
        Key::new("ignore_case", Type::Boolean, "Whether case is ignored.", "true").default("`false`"),
    ],
);
