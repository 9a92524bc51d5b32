//! The cases of a suite that can be replaced one by one.

use evalsuite_loader::LoadedSuite;

/// Cases with a file of their own that stand alone, one a line: index, names of graders that are not built in, file relative to the
/// suite's directory.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnFiles {
    pub(super) lines: String,
}

/// A case with a file of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OwnFile<'s> {
    /// Index of the case.
    pub(super) index: usize,
    /// Its graders, as [`graders`] writes them.
    pub(super) graders: &'s str,
    source: &'s str,
}

impl OwnFiles {
    /// None of a suite whose other parts depend on the texts of all cases.
    pub(super) fn of(suite: &LoadedSuite) -> Self {
        let mut lines = String::new();
        if suite.has_unread_files || suite.calibration.is_some() {
            return Self::default();
        }
        for (index, loaded) in suite.cases.iter().enumerate().filter(|(_, loaded)| loaded.stands_alone) {
            let Some(graders) = graders(&loaded.user_graders) else { continue };
            if !loaded.source.contains('\n') {
                lines.push_str(&format!("{index} {graders} {}\n", loaded.source));
            }
        }
        Self { lines }
    }

    /// The case that has the file `source`.
    pub(super) fn find(&self, source: &str) -> Option<OwnFile<'_>> {
        self.lines.lines().filter_map(OwnFile::parse).find(|file| file.source == source)
    }
}

impl<'s> OwnFile<'s> {
    fn parse(line: &'s str) -> Option<Self> {
        let (index, rest) = line.split_once(' ')?;
        let (graders, source) = rest.split_once(' ')?;
        Some(Self { index: index.parse().ok()?, graders, source })
    }
}

/// Names as one word; `None` if one of them would make another word of it.
pub(super) fn graders(names: &[String]) -> Option<String> {
    let is_plain = |name: &String| !name.contains(|character: char| character == ',' || character.is_whitespace());
    names.iter().all(is_plain).then(|| names.join(","))
}
