//! JSON lines.

use super::reader::Reader;
use crate::diagnostic::{Code, Diagnostics};
use crate::read::node::Node;
use crate::source::{FileId, Span};

/// Lines that are not JSON, after which no others are read.
const MAX_INVALID: usize = 1000;

/// The values of JSON lines, without those that are not JSON: these are reported.
///
/// Blank lines are skipped. That a value is an object is for the caller to check.
pub(crate) fn parse_jsonl(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Node> {
    let mut values = Vec::new();
    let mut nodes = 0;
    let mut number = 0;
    let mut invalid = 0;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        number += 1;
        if line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            continue;
        }
        match Reader::new(file, line, number, &mut nodes, diagnostics).document() {
            Ok(value) => values.push(value),
            Err(problem) => {
                let limit_is_of_file = problem.code == Code::LimitExceeded && nodes > crate::read::MAX_NODES;
                let place = problem.place;
                diagnostics.push(*problem);
                invalid += 1;
                if limit_is_of_file {
                    break;
                }
                if let Some(place) = place.filter(|_| invalid == MAX_INVALID) {
                    let message = format!("{MAX_INVALID} lines are not JSON: those that follow are not read");
                    let help = "write one JSON object per line";
                    diagnostics.report(Code::LimitExceeded, Span::whole(place.file), message, help);
                    break;
                }
            }
        }
    }
    values
}
