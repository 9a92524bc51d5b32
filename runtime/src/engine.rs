//! The life of a case and its trials.

mod attempts;
mod case;
mod chosen_agent;
mod dependencies;
mod hooks;
pub(crate) mod interpolation;
mod limits;
mod plan;
mod preparation;
mod regrade;
mod requirements;
mod session;
mod snapshot;
mod transcript;
mod trial;
mod trial_record;
mod trials;
mod turn_graders;
mod workspace;

pub(crate) use case::run_case;
pub(crate) use preparation::end_own_base;
pub(crate) use requirements::needs_judge;
pub(crate) use session::{Session, SessionTest, below};
pub(crate) use snapshot::{IGNORED, unified};
