//! Lists of assertions, and what is reported about them.

mod include;
mod list;
mod merge;
mod task;
