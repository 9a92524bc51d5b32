//! Agreement of judges with people: statistics, the record of a calibration, and its report.

pub(crate) mod agreement;
pub(crate) mod calibration_record;
pub(crate) mod calibration_report;

pub use self::calibration_report::CalibrationReport;
