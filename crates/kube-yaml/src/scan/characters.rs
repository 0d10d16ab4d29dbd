//! Classes of characters for the scanner.

/// Characters that are line breaks in YAML 1.1 only.
pub(super) const OLD_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Characters of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Characters {
    /// Only ASCII: a character is a byte.
    Ascii,
    /// Characters of several bytes as well.
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
