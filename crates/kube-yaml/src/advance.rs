//! Places and counts that go on and never wrap around.

/// A place in a text, or a count of what is in it. Both are bounded by the length of the input; should a bound be wrong,
/// they stay at the end instead of beginning again.
pub(super) trait Advance {
    /// Goes on by a number.
    fn advance(&mut self, by: Self);
}

impl Advance for usize {
    #[inline]
    fn advance(&mut self, by: Self) {
        *self = self.saturating_add(by);
    }
}

impl Advance for u32 {
    #[inline]
    fn advance(&mut self, by: Self) {
        *self = self.saturating_add(by);
    }
}
