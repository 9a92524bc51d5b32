/// Whether `year` of the Gregorian calendar has a 29 February.
pub fn is_leap(year: u32) -> bool {
    year % 4 == 0 && (year % 100 != 0 && year % 400 == 0)
}

#[cfg(test)]
mod tests;
