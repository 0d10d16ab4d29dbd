//! Anchors, aliases and tags.

use super::{Cause, Failure, Scanner, Spot, Tag, TokenKind};
use crate::text::Advance as _;

/// The prefix of YAML's own tags.
const CORE: &str = "tag:yaml.org,2002:";

impl<'t> Scanner<'t> {
    pub(super) fn anchor(&mut self, spot: Spot) -> Result<(), Failure> {
        self.note_key(spot)?;
        let (name, is_sound) = self.name();
        if !is_sound {
            let cause = if name.is_empty() { Cause::NoName } else { Cause::Name };
            self.check_old_breaks(spot.at, self.at)?;
            return Err(Failure::new(spot.at, cause));
        }
        self.push(spot, TokenKind::Anchor(name));
        Ok(())
    }

    /// Scans an alias. One with an invalid name is kept, since "no anchor" is the clearest diagnostic for it.
    pub(super) fn alias(&mut self, spot: Spot) -> Result<(), Failure> {
        self.note_key(spot)?;
        let (name, is_sound) = self.name();
        if name.is_empty() {
            return Err(Failure::new(spot.at, Cause::NoName));
        }
        self.check_old_breaks(spot.at, self.at)?;
        self.push(spot, TokenKind::Alias(name, is_sound));
        Ok(())
    }

    /// Reads a name. Returns true with it if go-yaml accepts the name; if not, the name extends to the next blank or
    /// bracket.
    fn name(&mut self) -> (&'t str, bool) {
        self.at.advance(1);
        let start = self.at;
        let rest = &self.bytes[self.at..];
        let length = |is_part: fn(u8) -> bool| rest.iter().take_while(|byte| is_part(**byte)).count();
        let name = length(is_word);
        let is_ended = rest.get(name).is_none_or(|byte| b" \t\n\r?:,]}%@`".contains(byte));
        let is_sound = name > 0 && is_ended;
        let name = if is_sound { name } else { length(|byte| !b" \t\n\r,[]{}".contains(&byte)) };
        self.at.advance(name);
        (self.slice(start..self.at), is_sound)
    }

    pub(super) fn tag(&mut self, spot: Spot) -> Result<(), Failure> {
        self.note_key(spot)?;
        let wrong = Failure::new(spot.at, Cause::Tag);
        self.at.advance(1);
        let tag = if self.byte(0) == Some(b'<') {
            self.at.advance(1);
            let name = self.tag_name().filter(|name| !name.is_empty()).ok_or(wrong)?;
            if self.byte(0) != Some(b'>') {
                return Err(wrong);
            }
            self.at.advance(1);
            match name.strip_prefix(CORE) {
                Some(name) => Tag::Core(name.to_owned()),
                None if name == "!" => Tag::NonSpecific,
                None => Tag::Other,
            }
        } else {
            let handle = self.bytes[self.at..].iter().take_while(|byte| is_word(**byte)).count();
            if self.byte(handle) == Some(b'!') {
                self.at.advance(handle);
                self.at.advance(1);
                let name = self.tag_name().filter(|name| !name.is_empty()).ok_or(wrong)?;
                if handle > 0 { Tag::Undeclared } else { Tag::Core(name) }
            } else if self.tag_name().ok_or(wrong)?.is_empty() {
                Tag::NonSpecific
            } else {
                Tag::Other
            }
        };
        if !self.is_blank_or_end(0) {
            return Err(self.at_old_break(wrong));
        }
        self.push(spot, TokenKind::Tag(tag, self.at.saturating_sub(spot.at)));
        Ok(())
    }

    /// Reads the characters of a tag; `None` if it has an invalid escape.
    fn tag_name(&mut self) -> Option<String> {
        let mut name = Vec::new();
        while let Some(byte) = self.byte(0).filter(|byte| is_word(*byte) || b";/?:@&=+$,.!~*'()[]%".contains(byte)) {
            if byte == b'%' {
                let first = self.octet()?;
                let more = match first.leading_ones() {
                    0 => 0,
                    2 => 1,
                    3 => 2,
                    4 => 3,
                    _ => return None,
                };
                name.push(first);
                for _ in 0..more {
                    name.push(self.octet().filter(|octet| octet.leading_ones() == 1)?);
                }
            } else {
                self.at.advance(1);
                name.push(byte);
            }
        }
        Some(String::from_utf8_lossy(&name).into_owned())
    }

    /// Reads a byte that is written as `%41`.
    fn octet(&mut self) -> Option<u8> {
        let digit = |behind| self.byte(behind).and_then(|byte| char::from(byte).to_digit(16));
        let octet = (self.byte(0) == Some(b'%')).then_some(digit(1)? << 4 | digit(2)?)?;
        self.at.advance(3);
        u8::try_from(octet).ok()
    }
}

/// Returns true for a character of names.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
