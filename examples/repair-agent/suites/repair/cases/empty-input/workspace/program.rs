/// Mean of `values`, rounded down; 0 if there are none.
pub fn mean(values: &[u32]) -> u32 {
    let sum: u32 = values.iter().sum();
    sum / values.len() as u32
}

#[cfg(test)]
mod tests;
