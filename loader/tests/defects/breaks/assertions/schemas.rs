//! The schema of a `json-schema`, checked like the files of the suite.

use evalsuite_schema::diagnostics::Code;

use super::super::{Breaks, Expected, Place};
use crate::generate::SCHEMA;
use crate::project::File;

pub(super) fn add(breaks: &mut Breaks<'_>) {
    let Some(grader) = breaks.tagged("schema file").into_iter().next() else { return };
    let (file, grader_file) = (breaks.project.inside(SCHEMA), grader.file.to_owned());
    let mistakes = [
        (Code::InvalidJsonSchema, "a misspelled keyword", "{\n  \"requierd\": [\"total\"]\n}\n", (2, 3)),
        (Code::InvalidJsonSchema, "a type that is none", "{ \"type\": \"objekt\" }\n", (1, 11)),
        (Code::InvalidJsonSchema, "a limit that is not a number", "{\n\"maximum\": \"3\" }\n", (2, 12)),
        (Code::InvalidJsonSchema, "a pattern that does not compile", "{ \"pattern\": \"(\" }\n", (1, 14)),
        (Code::InvalidJsonSchema, "a reference to nothing", "{ \"$ref\": \"#/$defs/order\" }\n", (1, 11)),
        (Code::InvalidJsonSchema, "a list in place of a schema", "[]\n", (1, 1)),
        (Code::DuplicateKey, "a keyword twice", "{ \"type\": \"object\",\n  \"type\": \"array\" }\n", (2, 3)),
    ];
    for (code, what, schema, (line, column)) in mistakes {
        let file = file.clone();
        let files = vec![file.clone(), grader_file.clone()];
        breaks.push(code, format!("a schema with {what}"), files, move |project| {
            project.add(&file, File::Bytes(schema.as_bytes().to_vec()));
            vec![Expected { code, file: file.clone(), place: Place::Text(line, column) }]
        });
    }
}
