//! Reading and writing JSON Lines with a header, then one line per case and target, sorted by them.

use std::fmt::Write;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::BaselineError;

/// A line after the header.
pub(super) trait KeyedLine: Serialize + DeserializeOwned {
    /// Case and target, which no other line has.
    fn key(&self) -> (&str, &str);

    /// Why the values of the line are not valid.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// Reads the header and all lines, sorted.
pub(super) fn parse<Header: DeserializeOwned, Line: KeyedLine>(
    text: &str,
    schema: &str,
    schema_of: fn(&Header) -> &str,
) -> Result<(Header, Vec<Line>), BaselineError> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (_, first) = lines.next().ok_or_else(|| BaselineError::new(1, "the file is empty"))?;
    let header: Header =
        evalsuite_schema::json::from_str(first).map_err(|error| BaselineError::new(1, error.to_string()))?;
    let found = schema_of(&header);
    if found != schema {
        return Err(BaselineError::new(1, format!("the schema is `{found}`, not `{schema}`")));
    }
    let mut cases: Vec<(usize, Line)> = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        cases.push((number, parse_line(number, line)?));
    }
    cases.sort_by(|(_, left), (_, right)| left.key().cmp(&right.key()));
    for pair in cases.windows(2) {
        if let [(first, left), (second, right)] = pair
            && left.key() == right.key()
        {
            let (case, target) = right.key();
            let message = format!("case `{case}` with target `{target}` is in line {first}, too");
            return Err(BaselineError::new(*second, message));
        }
    }
    Ok((header, cases.into_iter().map(|(_, line)| line).collect()))
}

/// Reads one line of a file, whose number is for the error.
pub(super) fn parse_line<Line: KeyedLine>(number: usize, line: &str) -> Result<Line, BaselineError> {
    let line: Line =
        evalsuite_schema::json::from_str(line).map_err(|error| BaselineError::new(number, error.to_string()))?;
    line.problem().map_or(Ok(line), |problem| Err(BaselineError::new(number, problem)))
}

/// The text of a file, with the lines sorted.
pub(super) fn to_text<Line: KeyedLine>(header: &impl Serialize, lines: &[Line]) -> String {
    let mut lines: Vec<&Line> = lines.iter().collect();
    lines.sort_by(|left, right| left.key().cmp(&right.key()));
    let mut text = String::new();
    let mut add = |line: serde_json::Result<String>| {
        writeln!(text, "{}", line.expect("texts and numbers are JSON")).expect("writing to a string never fails");
    };
    add(serde_json::to_string(header));
    lines.into_iter().for_each(|line| add(serde_json::to_string(line)));
    text
}
