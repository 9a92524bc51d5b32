//! The calibration of judges in a run: measures them, and excludes graders whose judges are below the suite's
//! `minimum`.

pub(crate) mod calibration_record;
mod calibration_report;
mod judge_bar;
pub(crate) mod measurement;

pub use self::calibration_report::CalibrationReport;

pub(crate) use self::judge_bar::advise;
pub(crate) use self::measurement::{Measured, measured, measured_alone, repeat};
