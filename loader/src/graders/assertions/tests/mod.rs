mod include;
mod list;
mod merge;
mod task;
