use super::*;

#[test]
fn words_of_the_length_count() {
    assert_eq!(long_words("an old cat sleeps", 3), 3);
}

#[test]
fn shorter_words_do_not() {
    assert_eq!(long_words("a bb ccc", 4), 0);
}
