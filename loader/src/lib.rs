//! Reads and checks evaluation suites for evalsuite
