//! Reads inputs up to a bound.

use std::io::Read as _;

/// Largest input that is read, in bytes: 1 GiB.
pub const MAX_INPUT: u64 = 1 << 30;

/// Reads all of an input that is not larger than [`MAX_INPUT`].
pub(super) fn read_bounded(from: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_INPUT {
        return Err(std::io::Error::other("it is larger than 1 GiB"));
    }
    Ok(bytes)
}

/// The reason, without the operating system's number.
pub(super) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
