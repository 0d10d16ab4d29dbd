//! The open collections, each with its possible key.

use super::token::Spot;

/// Length of the longest key up to its colon, in characters, if no `?` precedes it.
pub(crate) const MAX_KEY: usize = 1024;

/// A token that is a key if a `:` follows it.
#[derive(Clone, Copy)]
pub(super) struct SimpleKey {
    /// True if the token has to be a key.
    pub required: bool,
    pub spot: Spot,
}

/// The block, or a collection in brackets inside it.
pub(super) struct Level {
    pub key: Option<SimpleKey>,
    /// The number of the key's token, or of the token where the last key could have been.
    pub token: usize,
}
