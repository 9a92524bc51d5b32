//! Graders and their settings.

mod composites;
mod graders;
mod includes;
mod judged;
mod schemas;

use super::Breaks;

pub(super) fn add(breaks: &mut Breaks<'_>) {
    graders::add(breaks);
    schemas::add(breaks);
    judged::add(breaks);
    composites::add(breaks);
    includes::add(breaks);
}
