//! What only `cargo evalsuite` calls. Test programs do without it: the feature `tooling` is off by default.

mod finish_run;
mod loaded_probe;
mod pair_judging;
#[cfg(feature = "calibration")]
mod rated_samples;

pub use self::finish_run::{FinishedRun, finish_run};
pub use self::loaded_probe::probe_loaded_suite;
pub use self::pair_judging::AnswerPairs;
#[cfg(feature = "calibration")]
pub use self::rated_samples::RatedSamples;
