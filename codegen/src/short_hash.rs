//! A hash that is short and the same in every process, unlike those of the standard library.

/// FNV-1a of `bytes`. Not for data of strangers: collisions can be made.
pub(crate) fn of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
