/// Sum of the numbers from 1 to `n`.
pub fn triangular(n: u32) -> u32 {
    let mut sum = 0;
    for i in 1..n {
        sum += i;
    }
    sum
}

#[cfg(test)]
mod tests;
