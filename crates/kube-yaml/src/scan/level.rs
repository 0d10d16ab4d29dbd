//! The collections that are open, and what may become a key in each of them.

use super::token::Spot;

/// The longest key up to its colon, in characters, without a `?` before it.
pub(crate) const MAX_KEY: usize = 1024;

/// A token that is a key if a `:` follows it.
#[derive(Clone, Copy)]
pub(super) struct SimpleKey {
    /// Nothing else can stand here.
    pub required: bool,
    pub spot: Spot,
}

/// The block, or a collection in brackets inside of it.
pub(super) struct Level {
    pub key: Option<SimpleKey>,
    /// The number of the key's token, or of the one where the last key could have been.
    pub token: usize,
}
