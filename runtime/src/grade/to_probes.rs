//! Finds the `Probed` implementation of a grader (feature `probe`).

use evalsuite_schema::{Grader, GraderConfig};

use crate::grade::probed::{GraderClass, Probed};

/// What a grader is to probes; `None` if it is of another family.
type OfFamily = fn(&GraderConfig) -> Option<&dyn Probed>;

const FAMILIES: &[OfFamily] = &[
    crate::grade::code_grader::to_probes::probed,
    crate::grade::composite::to_probes::probed,
    crate::grade::field_accuracy::to_probes::probed,
    crate::grade::json_graders::to_probes::probed,
    crate::grade::metric_graders::to_probes::probed,
    crate::grade::regex::to_probes::probed,
    crate::grade::similar::to_probes::probed,
    crate::grade::skill_trigger::to_probes::probed,
];

/// What a grader is to probes, as far as its family says it.
pub(crate) fn probed(config: &GraderConfig) -> &dyn Probed {
    FAMILIES.iter().find_map(|family| family(config)).unwrap_or(&())
}

/// What a probe can find out about a grader.
pub(crate) fn class(grader: &Grader) -> GraderClass {
    match &grader.config {
        GraderConfig::User { .. } => GraderClass::Opaque,
        config => probed(config).class(class),
    }
}
