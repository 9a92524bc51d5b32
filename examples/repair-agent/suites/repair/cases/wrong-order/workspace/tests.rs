use super::*;

fn names(players: &[(&'static str, u32)]) -> Vec<&'static str> {
    let players = players.iter().map(|(name, points)| Player { name, points: *points }).collect();
    ranking(players).into_iter().map(|player| player.name).collect()
}

#[test]
fn most_points_first() {
    assert_eq!(names(&[("Ana", 3), ("Bo", 9), ("Cy", 5)]), ["Bo", "Cy", "Ana"]);
}

#[test]
fn equal_ones_by_name() {
    assert_eq!(names(&[("Cy", 1), ("Ana", 1), ("Bo", 2)]), ["Bo", "Ana", "Cy"]);
}
