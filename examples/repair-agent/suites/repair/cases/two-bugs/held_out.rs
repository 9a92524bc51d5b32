use super::*;

#[test]
fn all_words_have_no_letters_at_least() {
    assert_eq!(long_words("a bb ccc", 0), 3);
    assert_eq!(long_words("a bb ccc", 1), 3);
    assert_eq!(long_words("a bb ccc", 2), 2);
}
