//! Texts without upper and lower case, for graders that ignore it.

/// The text with each letter folded, whatever its neighbours are: what a text contains, its folded form contains folded. Letters are the
/// same if they have the same upper or lower case letter: `Σ`, `σ` and `ς`, `ß` and `ẞ`, `s` and `ſ`, `K` and the sign of Kelvin. `ß` is not
/// `ss`, and the dotless `ı` is not `i`.
pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(folded_letter).collect()
}

/// The folded form of one letter.
pub(crate) fn folded_letter(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().map(|lower| if lower.is_ascii() || lower == 'ı' { lower } else { common_form(lower) })
}

/// The lower case of the upper case of a letter, if both are one letter.
fn common_form(letter: char) -> char {
    let (mut upper, mut lower) = (letter.to_uppercase(), [None, None]);
    if let (Some(only), None) = (upper.next(), upper.next()) {
        let mut forms = only.to_lowercase();
        lower = [forms.next(), forms.next()];
    }
    if let [Some(common), None] = lower { common } else { letter }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_of_one_upper_case_form_are_the_same() {
        for group in [
            &["ΟΔΟΣ", "οδος", "οδοσ", "Οδος"][..],
            &["straße", "Straße", "STRAẞE"],
            &["K", "k", "\u{212a}"],
            &["S", "s", "ſ"],
            &["Å", "å", "\u{212b}"],
            &["İ", "i\u{307}"],
            &["ǆ", "ǅ", "Ǆ"],
            &["µ", "Μ", "μ"],
        ] {
            let forms: Vec<String> = group.iter().map(|text| folded(text)).collect();
            assert!(forms.iter().all(|form| *form == forms[0]), "{group:?}: {forms:?}");
        }
        for (one, other) in [("ı", "i"), ("é", "e"), ("ß", "ss"), ("ﬁ", "fi"), ("İ", "i")] {
            assert_ne!(folded(one), folded(other));
        }
    }

    #[test]
    fn every_letter_folds_to_letters_that_stay() {
        for letter in '\0'..=char::MAX {
            let once: String = folded_letter(letter).collect();
            assert_eq!(folded(&once), once, "{letter:?}");
        }
    }

    proptest! {
        #[test]
        fn texts_of_one_lower_case_are_the_same_and_joining_does_not_matter(left in "[ΣσςaİıßẞK\u{212a} \\PC]{0,12}", right in "[Σσςa ]{0,6}") {
            prop_assert_eq!(folded(&left.to_lowercase()), folded(&left));
            prop_assert_eq!(folded(&format!("{left}{right}")), folded(&left) + &folded(&right));
        }
    }
}
