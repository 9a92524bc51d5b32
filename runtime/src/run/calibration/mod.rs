//! The calibration of judges in a run: measures them, and excludes graders whose judges are below the suite's
//! `minimum`.

pub(crate) mod judge_bar;
pub(crate) mod measurement;

pub(crate) use self::judge_bar::advise;
pub(crate) use self::measurement::{Measured, measured, measured_alone, repeat};
