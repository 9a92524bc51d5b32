//! Size limits of the files of a run, by name. `docs/security.md` has the same table.

use std::path::Path;

use super::OpenError;

/// The most bytes of a file that are read, and the most values of its JSON that are decoded: a value takes up to a few hundred
/// bytes of memory, whatever its length in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    pub bytes: u64,
    pub values: usize,
}

const MIB: u64 = 1 << 20;

/// The limits of files with these names.
const LIMITS: &[(&str, FileLimits)] = &[
    ("run.json", FileLimits { bytes: 16 * MIB, values: 250_000 }),
    ("suite.json", FileLimits { bytes: 32 * MIB, values: 1_000_000 }),
    ("summary.json", FileLimits { bytes: 64 * MIB, values: 250_000 }),
    ("calibration.json", FileLimits { bytes: 32 * MIB, values: 250_000 }),
    ("case.json", FileLimits { bytes: 16 * MIB, values: 250_000 }),
    ("result.json", FileLimits { bytes: 32 * MIB, values: 250_000 }),
    ("evidence.json", FileLimits { bytes: 64 * MIB, values: 2_000_000 }),
    ("input.json", FileLimits { bytes: 64 * MIB, values: 2_000_000 }),
    ("trajectory.json", FileLimits { bytes: 64 * MIB, values: 2_000_000 }),
    ("spend.jsonl", FileLimits { bytes: 64 * MIB, values: usize::MAX }),
];

/// The limits of all other files.
const OTHERS: FileLimits = FileLimits { bytes: 16 * MIB, values: 250_000 };

impl FileLimits {
    /// Those of a file with the name of this one.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default();
        LIMITS.iter().find(|(known, _)| name == *known).map_or(OTHERS, |(_, limits)| *limits)
    }

    /// # Errors
    ///
    /// If JSON has more values than are decoded.
    pub fn check_values(&self, json: &[u8]) -> Result<(), OpenError> {
        // Each value has at least one byte.
        match json.len() > self.values && has_more_values(json, self.values) {
            true => Err(OpenError::TooManyValues { limit: self.values }),
            false => Ok(()),
        }
    }
}

/// Whether JSON has more than so many values: each has a bracket, comma or colon before it, outside of texts.
fn has_more_values(json: &[u8], limit: usize) -> bool {
    let (mut values, mut is_text) = (0_usize, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_text = !is_text,
            b'\\' if is_text => {
                bytes.next();
            }
            b'[' | b'{' | b',' | b':' if !is_text => {
                values += 1;
                if values > limit {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_go_by_the_name_and_values_are_counted_outside_of_texts() {
        assert_eq!(FileLimits::of(Path::new("a/suite.json")).bytes, 32 * MIB);
        assert_eq!(FileLimits::of(Path::new("session.suite-1.json")), OTHERS);
        let limits = FileLimits { bytes: 0, values: 4 };
        assert!(
            limits.check_values(br#"[1, "[,[\",[,[,[:", {"a": 2}]"#).is_err(),
            "a bracket, two commas, a brace and a colon"
        );
        assert!(limits.check_values(br#"[1, "[,[\",[,[,[:", 2, 3]"#).is_ok());
        assert!(limits.check_values(b"[[[[[[").is_err());
    }

    #[test]
    fn the_limits_are_documented() {
        let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/security.md");
        // A published crate has no documents.
        let Ok(text) = std::fs::read_to_string(document) else { return };
        let shown = |values: usize| if values == usize::MAX { "–".to_owned() } else { grouped(values) };
        let row = |(name, limits): (&str, FileLimits)| {
            format!("| {name} | {} MiB | {} |", limits.bytes / MIB, shown(limits.values))
        };
        let rows = LIMITS.iter().map(|(name, limits)| row((&format!("`{name}`"), *limits)));
        for row in rows.chain([row(("any other file that is decoded", OTHERS))]) {
            assert!(text.contains(&row), "docs/security.md has no row `{row}`");
        }
    }

    fn grouped(value: usize) -> String {
        if value < 1000 { value.to_string() } else { format!("{},{:03}", grouped(value / 1000), value % 1000) }
    }
}
