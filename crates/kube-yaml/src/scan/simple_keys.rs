//! Simple keys: tokens that turn out to be keys when a `:` follows.

use super::token::{Level, MAX_KEY, SimpleKey, column};
use super::{Cause, Failure, Scanner, Spot};

impl Scanner<'_> {
    /// Returns true if a key may still begin at the first token of the queue.
    pub(super) fn may_be_key(&mut self) -> Result<bool, Failure> {
        // The keys of inner levels are later in the text.
        let level = match self.levels.len() {
            1 => 0,
            _ => self.levels.partition_point(|level| level.token < self.taken),
        };
        match self.levels.get(level) {
            Some(Level { key: Some(_), token, .. }) if *token == self.taken => self.can_be_key(level),
            _ => Ok(false),
        }
    }

    /// Returns true if the key of a level is still on its line and short enough.
    pub(super) fn can_be_key(&mut self, level: usize) -> Result<bool, Failure> {
        let Some(key) = self.levels[level].key else { return Ok(false) };
        let at = key.spot.at;
        let is_far = || self.at.saturating_sub(at) > MAX_KEY && self.slice(at..self.at).chars().count() > MAX_KEY;
        if key.spot.line == self.line && !is_far() {
            return Ok(true);
        }
        self.levels[level].key = None;
        if key.required { Err(Failure::new(key.spot.at, Cause::KeyWithoutColon)) } else { Ok(false) }
    }

    /// Records that the token that begins here may be a key. Behind it, no other one may begin.
    pub(super) fn note_key(&mut self, spot: Spot) -> Result<(), Failure> {
        if std::mem::take(&mut self.key_allowed) {
            let required = self.in_block() && self.indent == column(spot);
            self.forget_key()?;
            let token = self.next_token();
            if let Some(level) = self.levels.last_mut() {
                level.key = Some(SimpleKey { required, spot });
                level.token = token;
            }
        }
        Ok(())
    }

    /// Removes the possible key of this level, which did not become a key.
    pub(super) fn forget_key(&mut self) -> Result<(), Failure> {
        match self.levels.last_mut().and_then(|level| level.key.take()) {
            Some(key) if key.required => Err(Failure::new(key.spot.at, Cause::KeyWithoutColon)),
            _ => Ok(()),
        }
    }
}
