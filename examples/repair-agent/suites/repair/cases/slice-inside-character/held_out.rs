use super::*;

#[test]
fn every_length_of_a_mixed_text() {
    let text = "aé評🦀z";
    for limit in 0..=8 {
        let expected: String = text.chars().take(limit).collect();
        assert_eq!(shorten(text, limit), expected);
    }
}
