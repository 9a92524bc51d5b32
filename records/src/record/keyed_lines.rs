//! Reading and writing JSON Lines with a header, then one line per case and target, sorted by them.

use std::fmt::Write;

use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::sorting::sort_by;

use super::BaselineError;

/// A line after the header.
pub(super) trait KeyedLine: ToJson + FromJson {
    /// Case and target, which no other line has.
    fn key(&self) -> (&str, &str);

    /// Why the values of the line are not valid.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// Reads the header and all lines, sorted.
pub(super) fn parse<Header: FromJson, Line: KeyedLine>(
    text: &str,
    schema: &str,
    schema_of: fn(&Header) -> &str,
) -> Result<(Header, Vec<Line>), BaselineError> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (_, first) = lines.next().ok_or_else(|| BaselineError::new(1, "the file is empty"))?;
    let header: Header = read(1, first)?;
    let found = schema_of(&header);
    if found != schema {
        return Err(BaselineError::new(1, format!("the schema is `{found}`, not `{schema}`")));
    }
    let mut cases: Vec<(usize, Line)> = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        cases.push((number, parse_line(number, line)?));
    }
    sort_by(&mut cases, |(_, left), (_, right)| left.key().cmp(&right.key()));
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
    let line: Line = read(number, line)?;
    line.problem().map_or(Ok(line), |problem| Err(BaselineError::new(number, problem)))
}

fn read<T: FromJson>(number: usize, line: &str) -> Result<T, BaselineError> {
    let read = evalsuite_schema::json::from_str(line).and_then(T::from_json);
    read.map_err(|error| BaselineError::new(number, error.to_string()))
}

/// The text of a file, with the lines sorted.
pub(super) fn to_text<Line: KeyedLine>(header: &dyn ToJson, lines: &[Line]) -> String {
    let mut lines: Vec<&Line> = lines.iter().collect();
    sort_by(&mut lines, |left, right| left.key().cmp(&right.key()));
    let mut text = String::new();
    let mut add = |line: serde_json::Result<String>| {
        writeln!(text, "{}", line.expect("texts and numbers are JSON")).expect("writing to a string never fails");
    };
    add(evalsuite_schema::json::to_string(header));
    lines.into_iter().for_each(|line| add(evalsuite_schema::json::to_string(line)));
    text
}
