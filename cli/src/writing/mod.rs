//! Commands for those who write suites.

pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod expand;
pub(crate) mod explain;
pub(crate) mod fixes;
pub(crate) mod new;
pub(crate) mod sarif;
