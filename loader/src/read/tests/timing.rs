use std::path::Path;
use std::time::Instant;
use crate::diagnostic::Diagnostics;
use crate::source::Files;

const CASE: &str = r#"# a case
id: refund-small
tags: [billing, "refund", small]
criteria: The agent refunds the order and says so
input:
  - role: system
    content: You are a helpful assistant for the shop.
  - role: user
    content: |
      My order 4711 arrived broken.
      Please refund it.
assertions:
  - type: contains
    value: "refund"
    weight: 2
  - type: regex
    value: '\b4711\b'
    required: true
    min_score: 0.8
metadata:
  owner: billing
  ticket: SHOP-12
  priority: 3
"#;

#[test]
fn timing() {
    let files = Files::new(Path::new("/"));
    let file = files.add(Path::new("/x"));
    let mut d = Diagnostics::new();
    for round in 0..std::env::var("N").map_or(3, |n| n.parse().unwrap()) {
        let t = Instant::now();
        for _ in 0..1000 {
            let n = crate::read::parse_yaml(file, CASE, &mut d);
            assert!(n.is_some(), "{d:?}");
        }
        eprintln!("round {round}: {} bytes {:?}/case", CASE.len(), t.elapsed() / 1000);
    }
    let t = Instant::now();
    for _ in 0..1000 { std::hint::black_box(crate::read::yaml::scan_only(CASE)); }
    eprintln!("events own: {:?}", t.elapsed()/1000);
    let t = Instant::now();
    for _ in 0..1000 { 
       let mut p = saphyr_parser::Parser::new_from_str(CASE);
       while let Some(Ok(e)) = p.next_event() { if e.0 == saphyr_parser::Event::StreamEnd {break} }
    }
    eprintln!("events StrInput: {:?}", t.elapsed()/1000);
    let dir = std::env::temp_dir().join("xx.yaml");
    std::fs::write(&dir, CASE).unwrap();
    let t = Instant::now();
    for _ in 0..1000 { crate::read::read_text(&dir, &files, &mut d).unwrap(); }
    eprintln!("read: {:?}", t.elapsed()/1000);
    let t = Instant::now();
    for _ in 0..1000 { use sha2::Digest; std::hint::black_box(sha2::Sha256::digest(CASE)); }
    eprintln!("sha: {:?}", t.elapsed()/1000);
}
