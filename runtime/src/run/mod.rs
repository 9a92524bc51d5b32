//! The life of a case and its trials.

pub(crate) mod attempts;
pub(crate) mod calibration;
pub(crate) mod case;
pub(crate) mod case_report;
pub(crate) mod chosen_agent;
pub(crate) mod dependencies;
pub(crate) mod hooks;
pub(crate) mod limits;
pub(crate) mod plan;
pub(crate) mod preparation;
pub(crate) mod regrade;
pub(crate) mod requirements;
pub(crate) mod rerun;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod transcript;
pub(crate) mod trial;
pub(crate) mod trial_record;
pub(crate) mod trials;
pub(crate) mod turn_graders;
pub(crate) mod verbose;

pub(crate) use crate::run::{
    case::run_case,
    preparation::end_own_base,
    requirements::needs_judge,
    session::{Session, SessionTest},
};
