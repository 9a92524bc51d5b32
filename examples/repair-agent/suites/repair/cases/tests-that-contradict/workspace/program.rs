/// Twice as much.
pub fn double(n: i32) -> i32 {
    n * 2
}

#[cfg(test)]
mod tests;
