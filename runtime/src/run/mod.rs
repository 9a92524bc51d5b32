//! A run: settings, selection, dependencies, hooks, limits, and trials in phases.

pub(crate) mod attempts;
pub(crate) mod calibration;
pub(crate) mod case;
pub(crate) mod case_error;
pub(crate) mod case_record;
pub(crate) mod case_report;
pub(crate) mod case_setup;
pub(crate) mod chosen_agent;
pub(crate) mod dependencies;
pub(crate) mod earlier_records;
pub(crate) mod grader_configs;
pub(crate) mod hooks;
pub(crate) mod limits;
pub(crate) mod pair_judging;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod regrade;
pub(crate) mod requirements;
pub(crate) mod rerun;
pub(crate) mod reuse;
pub(crate) mod selected_targets;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod trial;
pub(crate) mod trials;
pub(crate) mod turn_graders;

pub(crate) use crate::run::case::run_case;
pub(crate) use crate::run::case_setup::case_base::end_own_base;
pub(crate) use crate::run::requirements::needs_judge;
pub(crate) use crate::run::reuse::own_directory;
pub(crate) use crate::run::session::{Session, SessionTest};
