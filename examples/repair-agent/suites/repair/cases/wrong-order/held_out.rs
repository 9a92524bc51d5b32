use super::*;

#[test]
fn points_go_down_and_names_up() {
    let players =
        (0..40).map(|i| Player { name: ["d", "b", "a", "c"][i % 4], points: (i as u32 * 7) % 10 }).collect();
    let ranked = ranking(players);
    assert!(ranked.windows(2).all(|pair| {
        pair[0].points > pair[1].points || (pair[0].points == pair[1].points && pair[0].name <= pair[1].name)
    }));
}
