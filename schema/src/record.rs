//! What a run writes: one record per trial, one per case, one per run.
