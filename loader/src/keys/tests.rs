//! The tables have every object once.

use std::collections::HashSet;

use evalsuite_schema::grader::BUILT_IN;

use super::{GRADERS, tables};

#[test]
fn a_table_has_each_key_once() {
    for table in tables() {
        let mut names = HashSet::new();
        for key in table.all_keys() {
            for name in [key.name].iter().chain(key.old).copied().chain(key.or) {
                assert!(names.insert(name), "`{name}` is twice in {}", table.id);
            }
        }
    }
}

#[test]
fn ids_of_tables_are_unique() {
    let mut ids = HashSet::new();
    for table in tables() {
        assert!(ids.insert(table.id), "{}", table.id);
    }
}

#[test]
fn every_built_in_grader_has_a_table() {
    let ids: Vec<&str> = GRADERS.iter().map(|table| table.id).collect();
    assert_eq!(ids, BUILT_IN);
    assert!(ids.iter().all(|id| crate::graders::built_in(id).is_some_and(|known| known.id == *id)));
}
