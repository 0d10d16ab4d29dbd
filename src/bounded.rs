//! Reading no more than a bound.

use std::io::{self, Read};

/// Reads to the end; `None` if that is after more than `most` bytes. Of those, one more is read.
pub(crate) fn read_at_most(from: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(u64::try_from(bytes.len()).is_ok_and(|read| read <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_read_up_to_the_bound() {
        assert_eq!(read_at_most(&b"1234"[..], 4).unwrap(), Some(b"1234".to_vec()));
        assert_eq!(read_at_most(&b"12345"[..], 4).unwrap(), None);
        assert_eq!(read_at_most(io::repeat(0), 4).unwrap(), None);
        assert_eq!(read_at_most(io::empty(), 0).unwrap(), Some(Vec::new()));
    }
}
