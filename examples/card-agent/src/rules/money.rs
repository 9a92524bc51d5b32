//! Amounts and currencies.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// An amount of money in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) range: Range<usize>,
    /// The number as written.
    number: String,
    pub(super) currency: Currency,
}

/// What is known about the currency of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Currency {
    /// ISO code.
    Is(&'static str),
    /// Currencies that share a sign, most common first.
    OneOf(&'static [&'static str]),
    Unknown,
}

/// Currency signs and names, in lower case.
const NAMES: &[(&str, Currency)] = &[
    ("€", Currency::Is("EUR")),
    ("eur", Currency::Is("EUR")),
    ("euro", Currency::Is("EUR")),
    ("euros", Currency::Is("EUR")),
    ("£", Currency::Is("GBP")),
    ("gbp", Currency::Is("GBP")),
    ("pounds", Currency::Is("GBP")),
    ("usd", Currency::Is("USD")),
    ("$", Currency::OneOf(DOLLARS)),
    ("dollars", Currency::OneOf(DOLLARS)),
    ("chf", Currency::Is("CHF")),
    ("jpy", Currency::Is("JPY")),
    ("yen", Currency::Is("JPY")),
    ("円", Currency::Is("JPY")),
    ("cny", Currency::Is("CNY")),
    ("yuan", Currency::Is("CNY")),
    ("元", Currency::Is("CNY")),
    ("块", Currency::Is("CNY")),
    ("¥", Currency::OneOf(&["JPY", "CNY"])),
    ("₪", Currency::Is("ILS")),
    ("ils", Currency::Is("ILS")),
    ("שקל", Currency::Is("ILS")),
    ("درهم", Currency::Is("AED")),
    ("₩", Currency::Is("KRW")),
    ("원", Currency::Is("KRW")),
    ("₹", Currency::Is("INR")),
    ("inr", Currency::Is("INR")),
    ("kr", Currency::OneOf(&["SEK", "NOK", "DKK"])),
];

/// Currencies with the sign `$`, which without a profile means the first.
const DOLLARS: &[&str] = &["USD", "CAD", "AUD", "SGD", "NZD", "HKD", "MXN"];

const NUMBER: &str = r"\d{1,3}(?:[.,'’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?";

static SIGN_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"(?i)([€£$¥₪₩₹]|\b(?:eur|usd|gbp|chf|ils|inr|jpy|cny)\b)\s?({NUMBER})"))
        .expect("a valid pattern")
});
static NUMBER_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    let names = r"[€£$¥₪₩₹元円块원]|(?:euros?|eur|usd|gbp|chf|ils|inr|jpy|cny|dollars|pounds|yen|yuan|kr|שקל|درهم)\b";
    Regex::new(&format!(r"(?i)({NUMBER})\s?({names})")).expect("a valid pattern")
});
static BARE: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!(r"\b({NUMBER})\b")).expect("a valid pattern"));

/// Finds amounts with a currency, in order.
pub(super) fn find(text: &str) -> Vec<Amount> {
    let mut found: Vec<Amount> = Vec::new();
    for (pattern, sign, number) in [(&*SIGN_FIRST, 1, 2), (&*NUMBER_FIRST, 2, 1)] {
        for captures in pattern.captures_iter(text) {
            let (Some(whole), Some(sign), Some(number)) = (captures.get(0), captures.get(sign), captures.get(number))
            else {
                continue;
            };
            if found.iter().any(|other| whole.start() < other.range.end && other.range.start < whole.end()) {
                continue;
            }
            let sign = sign.as_str().to_lowercase();
            let currency =
                NAMES.iter().find(|(name, _)| *name == sign).map_or(Currency::Unknown, |(_, currency)| *currency);
            found.push(Amount { range: whole.range(), number: number.as_str().to_owned(), currency });
        }
    }
    found.sort_by_key(|amount| amount.range.start);
    found
}

/// Finds numbers that may be amounts, for notes that mention money.
pub(super) fn find_bare(text: &str) -> Vec<Amount> {
    BARE.find_iter(text)
        .map(|number| Amount { range: number.range(), number: number.as_str().to_owned(), currency: Currency::Unknown })
        .collect()
}

impl Currency {
    /// The ISO code; `usual`, the user's own currency, resolves ambiguities.
    pub(super) fn code(self, usual: Option<&str>) -> Option<&str> {
        match self {
            Currency::Is(code) => Some(code),
            Currency::OneOf(codes) => match usual.filter(|usual| codes.contains(usual)) {
                Some(usual) => Some(usual),
                None if codes == DOLLARS => codes.first().copied(),
                None => None,
            },
            Currency::Unknown => usual,
        }
    }
}

impl Amount {
    /// The amount as a decimal number with a point, with two decimals if the currency has cents.
    pub(super) fn value(&self, currency: &str) -> String {
        let (whole, cents) = split(&self.number);
        match currency {
            "JPY" | "KRW" => whole,
            _ => format!("{whole}.{cents:0<2}"),
        }
    }
}

/// Digits before and after the decimal separator, which is a point or a comma.
fn split(number: &str) -> (String, String) {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    match number.rfind(['.', ',']) {
        // Three digits after the last separator are thousands.
        Some(at) if number.len() - at - 1 <= 2 => (digits(&number[..at]), digits(&number[at + 1..])),
        _ => (digits(number), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str, usual: Option<&str>) -> String {
        match find(text).as_slice() {
            [amount] => match amount.currency.code(usual) {
                Some(code) => format!("{} {code}", amount.value(code)),
                None => "which currency?".to_owned(),
            },
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn many_notations_are_supported() {
        for (text, expected) in [
            ("lunch 14.20 EUR", "14.20 EUR"),
            ("14,2 €", "14.20 EUR"),
            ("€1.234,50", "1234.50 EUR"),
            ("$1,234", "1234.00 USD"),
            ("昼食 1,200円", "1200 JPY"),
            ("花了35元", "35.00 CNY"),
            ("45 שקל", "45.00 ILS"),
            ("CHF 12.50", "12.50 CHF"),
        ] {
            assert_eq!(only(text, None), expected, "{text}");
        }
    }

    #[test]
    fn the_profile_resolves_a_shared_sign() {
        assert_eq!(only("¥500", None), "which currency?");
        assert_eq!(only("¥500", Some("CNY")), "500.00 CNY");
        assert_eq!(only("$5", Some("CAD")), "5.00 CAD");
        assert_eq!(only("$5", Some("EUR")), "5.00 USD");
    }
}
