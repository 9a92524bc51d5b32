/// Sum of all bytes modulo 256.
pub fn checksum(bytes: &[u8]) -> u8 {
    let mut sum = 0_u8;
    for byte in bytes {
        sum += *byte;
    }
    sum
}

#[cfg(test)]
mod tests;
