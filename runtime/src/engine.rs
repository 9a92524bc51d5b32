//! The life of a case and its trials.

mod case;
mod interpolation;
mod plan;
mod requirements;
mod snapshot;
mod transcript;
mod trial;
mod trial_record;
mod unsupported;
mod workers;
mod workspace;

pub(crate) use case::run_case;
