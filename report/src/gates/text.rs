//! Gates as people read them.

use std::fmt;

use evalsuite_diagnostics::counted;
use evalsuite_schema::gate::Measure;

use super::{GateReport, GateResult, GateVerdict};

impl fmt::Display for GateVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Met => "met",
            Self::Undecided => "undecided",
            Self::Missed => "missed",
        })
    }
}

impl fmt::Display for GateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.results.iter().try_for_each(|result| writeln!(f, "{result}"))?;
        match self.trial_errors {
            0 => Ok(()),
            errors => writeln!(f, "note: {errors} of {} trials ended in an error", self.trials),
        }
    }
}

/// `missed     pass_rate >= 0.9  [bucket:money]  0.750  4 cases`.
impl fmt::Display for GateResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<9}  {}", self.verdict, self.gate)?;
        if let Some(slice) = &self.slice {
            write!(f, "  [{slice}]")?;
        }
        match (self.value, self.measure) {
            (None, _) => {}
            (Some(value), Measure::Cost) => write!(f, "  ${value:.4}")?,
            (Some(value), measure) if measure.is_time() => write!(f, "  {value:.1} s")?,
            (Some(value), _) => write!(f, "  {value:.3}")?,
        }
        write!(f, "  {}", counted(self.cases, "case"))?;
        if let Some(floor) = self.floor {
            write!(f, "  floor {floor:.3}")?;
        }
        self.why.as_ref().map_or(Ok(()), |why| write!(f, "  ({why})"))
    }
}
