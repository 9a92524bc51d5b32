//! Names of calibration files.

/// Names of the file, the usual one first.
const NAMES: [&str; 2] = ["calibration.yaml", "calibration.yml"];

/// File names of the calibration of a suite, of which the first that exists is read. `file` is the
/// name of the suite's own file, if there may be several in the directory: `refunds.eval.yaml`, `cases.jsonl`.
pub fn calibration_names(file: Option<&str>) -> Vec<String> {
    let own = file.map(stem).into_iter().flat_map(|stem| NAMES.map(|name| format!("{stem}.{name}")));
    own.chain(NAMES.map(str::to_owned)).collect()
}

/// A file's name without its extension and `.eval`.
pub fn stem(name: &str) -> &str {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let cut = stem.len().saturating_sub(5);
    match (stem.get(..cut), stem.get(cut..)) {
        (Some(rest), Some(ending)) if !rest.is_empty() && ending.eq_ignore_ascii_case(".eval") => rest,
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_file_can_have_a_calibration_of_its_own() {
        assert_eq!(calibration_names(None), NAMES);
        let names = calibration_names(Some("refunds.eval.yaml"));
        let own = ["refunds.calibration.yaml", "refunds.calibration.yml"];
        assert_eq!(names, [&own[..], &NAMES].concat());
        for (name, expected) in [
            ("cases.jsonl", "cases"),
            ("EVAL.yaml", "EVAL"),
            ("a.b.Eval.yml", "a.b"),
            (".eval.yaml", ".eval"),
            ("plain", "plain"),
            ("äöü.yaml", "äöü"),
        ] {
            assert_eq!(stem(name), expected);
        }
    }
}
