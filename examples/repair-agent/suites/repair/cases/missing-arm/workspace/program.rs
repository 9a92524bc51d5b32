#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Add,
    Subtract,
    Multiply,
}

/// The result of an operation on two numbers.
pub fn apply(op: Op, left: i64, right: i64) -> i64 {
    match op {
        Op::Add => left + right,
        Op::Subtract => left - right,
    }
}

#[cfg(test)]
mod tests;
