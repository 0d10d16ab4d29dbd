//! What the characters of a text are to the scanner.

/// Characters that are line breaks in YAML 1.1 only.
pub(super) const OLD_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// What a text has beside printable ASCII.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Characters {
    /// Nothing: a character is a byte.
    Ascii,
    /// Characters of more than one byte.
    Wide,
    /// [`OLD_BREAKS`] as well.
    OldBreaks,
}

impl Characters {
    pub(super) fn of(text: &str) -> Self {
        match text {
            text if text.is_ascii() => Self::Ascii,
            text if text.contains(OLD_BREAKS) => Self::OldBreaks,
            _ => Self::Wide,
        }
    }
}

pub(super) fn is_blank_or_break(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
