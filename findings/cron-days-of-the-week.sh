#!/usr/bin/env bash
# In the crate cron, 1-5 are Sunday to Thursday, so an evaluation that runs on workdays runs on Sunday, and not on Friday.
#
# Versions: cron 0.17.0, croner 4.0.3, chrono 0.4.45 (crates.io).
# Behaviour: The crate calls itself a parser of cron expressions. In cron, Sunday is 0 or 7 and Monday is 1. Here Sunday is 1 and Saturday 7, as in Quartz, and a
# schedule with 0 is an error. The documentation has days of the week as names only, and says nothing about numbers. A number from a crontab or from a
# workflow of GitHub is a valid schedule that is one day off. If the day of the month is given, too, cron runs on each day that is one of them. Here it has to be
# both, as the example in the documentation shows, but does not say: weekly on Monday and on the first of the month is about twice a year.
# Guess before the run: the days of cron.
# Seen (the next days from Sunday, 29 November 2026, on, with six fields):
#   1-5: cron Mon 30, Tue 1, Wed 2, Thu 3, Sun 6; croner Mon 30, Tue 1, Wed 2, Thu 3, Fri 4
#   1: cron Sun 6, Sun 13; croner Mon 30, Mon 7; 0: cron error; croner Sun 6, Sun 13
#   day 1 and MON: cron 2027-02-01, 2027-03-01; croner 2026-11-30, 2026-12-01
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "days"
version = "0.1.0"
edition = "2024"

[dependencies]
chrono = "=0.4.45"
cron = "=0.17.0"
croner = "=4.0.3"
TOML
cat >src/main.rs <<'RUST'
use chrono::{DateTime, Utc};

fn text(days: impl Iterator<Item = DateTime<Utc>>, count: usize) -> String {
    days.take(count).map(|day| day.format("%a %F").to_string()).collect::<Vec<_>>().join(", ")
}

fn main() {
    let start: DateTime<Utc> = "2026-11-29T12:00:00Z".parse().expect("time");
    for (expression, count) in [("0 0 2 * * 1-5", 5), ("0 0 2 * * 1", 2), ("0 0 2 * * 0", 2), ("0 0 2 1 * MON", 2)] {
        let cron = expression.parse::<cron::Schedule>();
        let croner = croner::parser::CronParser::builder().seconds(croner::parser::Seconds::Required).build();
        let croner = croner.parse(expression).expect("expression");
        println!("{expression}");
        println!("  cron {}", cron.map_or("error".into(), |schedule| text(schedule.after(&start), count)));
        println!("  croner {}", text(croner.clone().iter_from(start, croner::Direction::Forward), count));
    }
}
RUST
seen=$(cargo run --quiet)
expected='0 0 2 * * 1-5
  cron Mon 2026-11-30, Tue 2026-12-01, Wed 2026-12-02, Thu 2026-12-03, Sun 2026-12-06
  croner Mon 2026-11-30, Tue 2026-12-01, Wed 2026-12-02, Thu 2026-12-03, Fri 2026-12-04
0 0 2 * * 1
  cron Sun 2026-12-06, Sun 2026-12-13
  croner Mon 2026-11-30, Mon 2026-12-07
0 0 2 * * 0
  cron error
  croner Sun 2026-12-06, Sun 2026-12-13
0 0 2 1 * MON
  cron Mon 2027-02-01, Mon 2027-03-01
  croner Mon 2026-11-30, Tue 2026-12-01'
echo "$seen"
[ "$seen" = "$expected" ]
