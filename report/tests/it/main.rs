//! Reports of run directories, in one program: each test program is linked on its own.

mod baselines;
mod comparison;
mod formats;
mod gates;
mod graders_of_turns;
mod health;
mod hostile_texts;
mod inspect_log;
mod judged_answers;
mod judged_rates;
mod otel;
mod run_directories;
mod schemas;
mod written_file;
