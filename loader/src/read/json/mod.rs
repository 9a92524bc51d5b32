//! JSON as RFC 8259 has it, and JSON lines: a reader of our own. `jsonc-parser` has byte ranges, but reads numbers as text, keeps
//! repeated keys, and is slower before any of that is checked (467 bytes unoptimised: 11 us, 7 us here). Tests compare with
//! `serde_json`.

mod reader;
mod syntax_error;

use self::reader::Reader;
use crate::diagnostic::{Code, Diagnostics};
use crate::read::node::Node;
use crate::source::{FileId, Span};

/// The tree of a JSON document.
///
/// `None` if there is no tree to check: the text is not JSON, or it exceeds a limit. Repeated keys are reported as well, but
/// the first of each stays and can be checked.
pub(crate) fn parse_json(file: FileId, text: &str, d: &mut Diagnostics) -> Option<Node> {
    let root = Reader::new(file, text, 1, &mut 0, d).document();
    root.map_err(|problem| d.push(*problem)).ok()
}

/// Lines that are not JSON, after which no others are read.
const MAX_INVALID: usize = 1000;

/// The values of JSON lines, without those that are not JSON: these are reported.
///
/// Blank lines are skipped. That a value is an object is for the caller to check.
pub(crate) fn parse_jsonl(file: FileId, text: &str, d: &mut Diagnostics) -> Vec<Node> {
    let (mut values, mut nodes, mut invalid) = (Vec::new(), 0, 0);
    for (line, number) in text.split('\n').zip(1..) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            continue;
        }
        match Reader::new(file, line, number, &mut nodes, d).document() {
            Ok(value) => values.push(value),
            Err(problem) => {
                let limit_is_of_file = problem.code == Code::LimitExceeded && nodes > super::MAX_NODES;
                let place = problem.place;
                d.push(*problem);
                invalid += 1;
                if limit_is_of_file {
                    break;
                }
                if let Some(place) = place.filter(|_| invalid == MAX_INVALID) {
                    let message = format!("{MAX_INVALID} lines are not JSON: those that follow are not read");
                    let help = "write one JSON object per line";
                    d.report(Code::LimitExceeded, Span::whole(place.file), message, help);
                    break;
                }
            }
        }
    }
    values
}
