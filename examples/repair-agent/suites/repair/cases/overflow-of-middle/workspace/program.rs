/// Place of `wanted` in `sorted`, a list of at most 255 entries without repeats.
pub fn position(sorted: &[u32], wanted: u32) -> Option<u8> {
    let mut low = 0_u8;
    let mut high = u8::try_from(sorted.len()).ok()?;
    while low < high {
        let middle = (low + high) / 2;
        let entry = sorted[usize::from(middle)];
        if entry == wanted {
            return Some(middle);
        }
        if entry < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    None
}

#[cfg(test)]
mod tests;
