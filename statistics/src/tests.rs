//! Results of Inspect's metric on the same data: `ci_wilson` of `inspect_ai.scorer`, inspect_ai 0.3.285
//! (`tests/tools/inspect_statistics.py` prints them).

use crate::wilson_interval;

#[test]
fn intervals_of_rates_are_those_of_inspect() {
    for (passed, cases, expected) in [
        (20, 20, (0.838_874_841_947_180_8, 1.0)),
        (18, 20, (0.698_966_354_771_512_8, 0.972_133_518_786_231_9)),
        (48, 50, (0.865_399_093_124_929_8, 0.988_961_115_672_380_3)),
        (3, 7, (0.158_219_855_251_469_7, 0.749_541_635_472_342_8)),
    ] {
        let (lower, upper): (f64, f64) = wilson_interval(passed, cases).expect("cases");
        let is_near = (lower - expected.0).abs() < 1e-12 && (upper - expected.1).abs() < 1e-12;
        assert!(is_near, "{passed} of {cases}: {lower} to {upper}, Inspect has {expected:?}");
    }
}
