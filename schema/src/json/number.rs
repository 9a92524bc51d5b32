//! Numbers of JSON.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::value::MapDeserializer;
use serde::de::{self, Visitor};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// Name of the struct as which `serde_json` hands over numbers of any length, with its feature `arbitrary_precision`.
pub(crate) const NAME: &str = "$serde_json::private::Number";

/// A number of JSON: an integer of any size, or else the float that is nearest to what was written.
///
/// The numbers of `serde_json` round integers beyond 64 bits to floats, which are equal where the integers are not.
#[derive(Clone, PartialEq)]
pub struct Number(Kind);

#[derive(Clone, PartialEq)]
enum Kind {
    Unsigned(u64),
    /// Less than 0.
    Signed(i64),
    /// Finite.
    Float(f64),
    /// An integer that 64 bits do not hold. Boxed, as its digits would make every value larger.
    Large(Box<Digits>),
}

/// The digits of an integer without leading zeros, after `-` if it is less than 0. Its nearest float is finite.
#[derive(Clone, PartialEq)]
struct Digits(String);

impl Number {
    /// The number that a float is; `None` if it is not finite.
    pub fn from_f64(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(Kind::Float(number)))
    }

    /// As an integer from 0 up, if it is one of 64 bits.
    pub fn as_u64(&self) -> Option<u64> {
        if let Kind::Unsigned(number) = self.0 { Some(number) } else { None }
    }

    /// As an integer, if it is one of 64 bits with sign.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Kind::Unsigned(number) => number.try_into().ok(),
            Kind::Signed(number) => Some(number),
            Kind::Float(_) | Kind::Large(_) => None,
        }
    }

    /// As the nearest float.
    #[allow(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
    pub fn as_f64(&self) -> Option<f64> {
        match &self.0 {
            Kind::Unsigned(number) => Some(*number as f64),
            Kind::Signed(number) => Some(*number as f64),
            Kind::Float(number) => Some(*number),
            Kind::Large(digits) => digits.0.parse().ok(),
        }
    }

    /// Whether it is an integer from 0 up of 64 bits.
    pub fn is_u64(&self) -> bool {
        self.as_u64().is_some()
    }

    /// Whether it is an integer of 64 bits with sign.
    pub fn is_i64(&self) -> bool {
        self.as_i64().is_some()
    }

    /// Whether it has a fraction or an exponent.
    pub fn is_f64(&self) -> bool {
        matches!(self.0, Kind::Float(_))
    }

    /// Whether it is an integer that 64 bits do not hold.
    pub fn is_large(&self) -> bool {
        matches!(self.0, Kind::Large(_))
    }

    /// Whether two numbers have the same value: `1` and `1.0` do. An integer is compared with all its digits.
    #[allow(clippy::float_cmp, reason = "only equal floats are the same number")]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Float(left), Kind::Float(right)) => left == right,
            (Kind::Float(float), _) => other.is_integer_of(*float),
            (_, Kind::Float(float)) => self.is_integer_of(*float),
            (left, right) => left == right,
        }
    }

    /// Whether the nearest float is the number.
    pub fn is_float_exactly(&self) -> bool {
        self.as_f64().and_then(Self::from_f64).is_some_and(|float| self.is_same(&float))
    }

    /// Whether an integer is a float: the shortest digits that are read as the float are those of the integer.
    fn is_integer_of(&self, float: f64) -> bool {
        // Without the sign of minus zero.
        float.fract() == 0.0 && self.to_string() == (float + 0.0).to_string()
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Kind::Unsigned(number) => number.hash(state),
            Kind::Signed(number) => number.hash(state),
            // Both zeros are equal.
            Kind::Float(number) => (number + 0.0).to_bits().hash(state),
            Kind::Large(digits) => digits.0.hash(state),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unsigned(number) => number.fmt(f),
            Kind::Signed(number) => number.fmt(f),
            Kind::Float(number) => match serde_json::Number::from_f64(*number) {
                Some(number) => number.fmt(f),
                None => f.write_str("null"),
            },
            Kind::Large(digits) => f.write_str(&digits.0),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Kind::Unsigned(number) => serializer.serialize_u64(*number),
            Kind::Signed(number) => serializer.serialize_i64(*number),
            Kind::Float(number) => serializer.serialize_f64(*number),
            Kind::Large(digits) => match (digits.0.parse(), digits.0.parse()) {
                (Ok(number), _) => serializer.serialize_u128(number),
                (_, Ok(number)) => serializer.serialize_i128(number),
                // The writer of records knows the name, as `serde_json` does with its feature.
                _ => {
                    let mut parts = serializer.serialize_struct(NAME, 1)?;
                    parts.serialize_field(NAME, &digits.0)?;
                    parts.end()
                }
            },
        }
    }
}

impl Number {
    /// Hands it over. An integer of more than 64 bits is a float for types that are not a [`Value`](super::Value).
    pub(super) fn visit<'de, V: Visitor<'de>, E: de::Error>(&self, visitor: V) -> Result<V::Value, E> {
        match &self.0 {
            Kind::Unsigned(number) => visitor.visit_u64(*number),
            Kind::Signed(number) => visitor.visit_i64(*number),
            Kind::Float(number) => visitor.visit_f64(*number),
            Kind::Large(digits) => {
                let digits = &digits.0;
                visitor.visit_f64(digits.parse().map_err(|_| E::custom(format_args!("`{digits}` is not a number")))?)
            }
        }
    }

    /// Hands it over to a [`Value`](super::Value), with all digits.
    pub(super) fn visit_exactly<'de, V: Visitor<'de>, E: de::Error>(self, visitor: V) -> Result<V::Value, E> {
        match self.0 {
            Kind::Large(digits) => {
                let entry = std::iter::once((NAME, digits.0));
                visitor.visit_map(MapDeserializer::new(entry))
            }
            _ => self.visit(visitor),
        }
    }
}

macro_rules! from_integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Number {
            fn from(number: $type) -> Self {
                #[allow(clippy::unnecessary_fallible_conversions, clippy::cast_lossless, reason = "the same for every type")]
                match u64::try_from(number) {
                    Ok(number) => Self(Kind::Unsigned(number)),
                    Err(_) => Self(Kind::Signed(number as i64)),
                }
            }
        }
    )*};
}

from_integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

impl From<serde_json::Number> for Number {
    fn from(number: serde_json::Number) -> Self {
        match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Self(Kind::Unsigned(number)),
            // Minus zero is a float.
            (_, Some(number)) if number != 0 => Self(Kind::Signed(number)),
            _ => {
                let written = number.to_string();
                let read = number_of_digits(&written, !written.contains(['.', 'e', 'E']));
                // What is not finite has no float, and no other number here.
                read.unwrap_or(Self(Kind::Float(f64::MAX)))
            }
        }
    }
}

impl From<Number> for serde_json::Number {
    /// An integer that 64 bits do not hold becomes the nearest float.
    fn from(number: Number) -> Self {
        match number.0 {
            Kind::Unsigned(number) => number.into(),
            Kind::Signed(number) => number.into(),
            Kind::Float(_) | Kind::Large(_) => number.as_f64().and_then(Self::from_f64).unwrap_or_else(|| 0.into()),
        }
    }
}

/// The number with these digits, which JSON or YAML allows: an integer, or else the nearest float. `None` if it is not finite.
///
/// The standard library rounds correctly, and is optimised in every program.
pub fn number_of_digits(digits: &str, is_integer: bool) -> Option<Number> {
    if is_integer {
        if let Ok(number) = digits.parse() {
            return Some(Number(Kind::Unsigned(number)));
        }
        match digits.parse() {
            // Minus zero is a float.
            Ok(0) | Err(_) => {}
            Ok(number) => return Some(Number(Kind::Signed(number))),
        }
    }
    let float = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
    let (sign, size) = digits.strip_prefix('-').map_or(("", digits.trim_start_matches('+')), |size| ("-", size));
    let size = size.trim_start_matches('0');
    let is_large = is_integer && !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
    Some(Number(if is_large { Kind::Large(Box::new(Digits(format!("{sign}{size}")))) } else { Kind::Float(float) }))
}
