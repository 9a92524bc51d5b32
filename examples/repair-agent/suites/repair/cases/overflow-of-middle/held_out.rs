use super::*;

#[test]
fn every_place_of_the_longest_list() {
    let longest: Vec<u32> = (0..255).map(|entry| entry * 3).collect();
    for place in 0..=254 {
        assert_eq!(position(&longest, u32::from(place) * 3), Some(place));
        assert_eq!(position(&longest, u32::from(place) * 3 + 1), None);
    }
}
