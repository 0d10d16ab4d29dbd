//! Counters that never wrap around.

/// An offset in a text, or a count. Both are bounded by the length of the input; if a bound is wrong, they saturate
/// instead of wrapping around.
pub(super) trait Advance {
    /// Adds a number.
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
