/// How many words of `text` have at least `length` letters.
pub fn long_words(text: &str, length: usize) -> usize {
    let count = 0;
    for word in text.split_whitespace() {
        if word.chars().count() > length {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests;
