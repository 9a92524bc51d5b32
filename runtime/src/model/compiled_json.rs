//! JSON that is compiled into a program.

use evalsuite_schema::digest::CaseDigests;

/// The content of a suite's files as JSON. The macro writes it into a separate module: the edit of a case changes only
/// this module, and the compiler reuses the rest of its last build.
#[derive(Debug)]
pub struct SuiteTexts {
    /// The suite without its cases.
    pub suite: &'static str,
    /// The cases, one per line: the JSON and the digests of each.
    pub cases: &'static str,
    /// Where the line of each case ends, in bytes.
    pub ends: &'static [u32],
}

impl SuiteTexts {
    /// The case at `index`; empty if there is none.
    fn case(&self, index: usize) -> &'static str {
        let end = |index: usize| self.ends.get(index).map(|end| *end as usize);
        let start = index.checked_sub(1).map_or(Some(0), end);
        let line = start.zip(end(index)).and_then(|(start, end)| self.cases.get(start..end)).unwrap_or_default();
        line.strip_suffix('\n').unwrap_or(line)
    }
}

/// The JSON of a suite or of a case.
#[derive(Debug, Clone, Copy)]
pub enum CompiledJson {
    /// The text itself.
    Text(&'static str),
    /// The settings of a suite.
    Suite(&'static SuiteTexts),
    /// The case at an index.
    Case(&'static SuiteTexts, usize),
}

impl CompiledJson {
    /// The JSON.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Text(text) => text,
            Self::Suite(texts) => texts.suite,
            Self::Case(texts, index) => CaseDigests::split(texts.case(index)).0,
        }
    }

    /// The digests that the compiler left next to the JSON of a case.
    pub(crate) fn digests(self) -> Option<CaseDigests> {
        match self {
            Self::Text(_) | Self::Suite(_) => None,
            Self::Case(texts, index) => CaseDigests::split(texts.case(index)).1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CaseDigests, CompiledJson, SuiteTexts};

    #[test]
    fn each_case_has_its_line() {
        static TEXTS: SuiteTexts = SuiteTexts { suite: "s", cases: "{}\n[ä]\t1 2\n", ends: &[3, 12] };
        let lines: Vec<&str> = (0..3).map(|index| CompiledJson::Case(&TEXTS, index).text()).collect();
        assert_eq!(lines, ["{}", "[ä]", ""]);
        assert_eq!(CompiledJson::Suite(&TEXTS).text(), "s");
        let digests = |index| CompiledJson::Case(&TEXTS, index).digests();
        assert_eq!(digests(1), Some(CaseDigests { case: "1".to_owned(), graders: "2".to_owned() }));
        assert_eq!(digests(0), None);
    }
}
