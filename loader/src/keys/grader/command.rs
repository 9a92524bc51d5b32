//! `code-grader`.

use super::grader;
use crate::diagnostic::Code;
use crate::keys::judged::PREPROCESSOR;
use crate::keys::range::POSITIVE;
use crate::keys::{Key, Table, Type};

pub(crate) static CODE_GRADER: Table = grader(
    "code-grader",
    "`code-grader`", r#"{ type: code-grader, command: [python3, ./graders/totals.py] }"#,
    "A command decides, by its exit status or with a JSON object on standard output (see the protocols). Keys that are not in \
     this table are added to `config`.",
    &[
        Key::new("command", Type::Command, "What runs.", "[python3, ./graders/totals.py]")
            .old(&["script"])
            .required()
            .codes(&[Code::InvalidCommand, Code::MissingPath, Code::ArgumentNotFound]),
        Key::new("cwd", Type::Directory, "Working directory.", "./graders").default("the directory of the eval file"),
        Key::new("timeout_seconds", Type::Number(&POSITIVE), "Time limit.", "10").default("60").unit("seconds"),
        Key::new(
            "preprocessors",
            Type::List(&Type::Object(&PREPROCESSOR)),
            "Commands that turn files in the answer into text, tried before the suite's.",
            "[{type: pdf, command: [./pdf_to_text.sh]}]",
        ),
        Key::new("target", Type::Any, "There is no proxy to a model: let the command call the model itself.", "gpt")
            .refused()
            .codes(&[Code::UnsupportedKey]),
        Key::new("config", Type::Data, "Free-form data that the command gets.", "{currency: EUR}").codes(&[Code::NearMissKey, Code::ConflictingKeys]),
    ],
)
.open();
