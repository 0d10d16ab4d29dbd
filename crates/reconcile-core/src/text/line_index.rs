//! The lines of a large text by their numbers, and the characters of a line by their columns.

use std::ops::Range;

/// Number of bytes between two places at which the characters are counted.
const BLOCK: usize = 4096;
/// Largest number of bytes of a character in UTF-8.
const WIDEST: usize = 4;
const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The starts of the lines of a text, and the number of characters at regular intervals: a line of many MiB is neither copied nor
/// counted for each of its mistakes.
pub(crate) struct LineIndex {
    pub starts: Vec<usize>,
    /// The number of characters before each block.
    before: Vec<usize>,
}

impl LineIndex {
    pub fn of(text: &[u8]) -> Self {
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at.saturating_add(1))).collect();
        let mut count = 0_usize;
        let blocks = text.chunks(BLOCK).map(|block| {
            let before = count;
            count = count.saturating_add(characters(block));
            before
        });
        Self { before: blocks.collect(), starts }
    }

    /// The line with this number, from 1, of the same text.
    pub fn line<'t>(&'t self, text: &'t [u8], number: u32) -> Option<IndexedLine<'t>> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        let mut start = *self.starts.get(at)?;
        let mut end = self.starts.get(at.saturating_add(1)).map_or(text.len(), |next| next.saturating_sub(1));
        while text.get(start..end)?.starts_with(BYTE_ORDER_MARK) {
            start = start.saturating_add(BYTE_ORDER_MARK.len());
        }
        while text.get(start..end)?.ends_with(b"\r") {
            end = end.saturating_sub(1);
        }
        Some(IndexedLine { index: self, text, start, end })
    }

    /// The number of characters before an offset.
    fn number(&self, text: &[u8], offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.before.len().saturating_sub(1));
        let rest = text.get(block.saturating_mul(BLOCK)..offset).unwrap_or_default();
        self.before.get(block).map_or(0, |before| before.saturating_add(characters(rest)))
    }

    /// The offset of the character with this number, from 0.
    fn offset(&self, text: &[u8], number: usize) -> usize {
        let block = self.before.partition_point(|before| *before <= number).saturating_sub(1);
        let start = block.saturating_mul(BLOCK);
        let left = number.saturating_sub(self.before.get(block).copied().unwrap_or(0));
        let rest = text.get(start..).unwrap_or_default();
        let mut starts = rest.iter().enumerate().filter(|(_, byte)| is_start(**byte));
        starts.nth(left).map_or(text.len(), |(at, _)| start.saturating_add(at))
    }
}

/// A line without its break. Its characters are counted from 0.
pub(crate) struct IndexedLine<'t> {
    index: &'t LineIndex,
    text: &'t [u8],
    start: usize,
    end: usize,
}

impl IndexedLine<'_> {
    /// The number of its characters.
    pub fn length(&self) -> usize {
        let number = |offset| self.index.number(self.text, offset);
        number(self.end).saturating_sub(number(self.start))
    }

    /// Some of its characters. Bytes that are not UTF-8 become U+FFFD.
    pub fn characters(&self, range: Range<usize>) -> String {
        let first = self.index.number(self.text, self.start).saturating_add(range.start);
        let from = self.index.offset(self.text, first).min(self.end);
        let to = from.saturating_add(range.len().saturating_mul(WIDEST)).min(self.end);
        String::from_utf8_lossy(self.text.get(from..to).unwrap_or_default()).chars().take(range.len()).collect()
    }
}

fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_start(**byte)).count()
}

/// Returns true for the first byte of a character in UTF-8.
fn is_start(byte: u8) -> bool {
    !matches!(byte, 0x80..=0xBF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_in_lines_of_any_length() {
        let long: String = "aß€𝄞".chars().cycle().take(20_000).collect();
        for line in ["", "short", "ß", &long] {
            let text = format!("first\n\u{FEFF}{line}\r\nlast");
            let index = LineIndex::of(text.as_bytes());
            let found = index.line(text.as_bytes(), 2).unwrap();
            let characters: Vec<char> = line.chars().collect();
            assert_eq!(found.length(), characters.len());
            for from in [0, 1, 2, 1_364, 1_365, 4_095, 4_096, 4_097, 19_999, 20_000, 30_000] {
                let wanted: String = characters.iter().skip(from).take(121).collect();
                assert_eq!(found.characters(from..from + 121), wanted, "{from} of {}", characters.len());
            }
        }
    }

    #[test]
    fn lines_end_where_the_text_ends() {
        for (text, lines) in [("", &[""][..]), ("a", &["a"]), ("a\n", &["a", ""]), ("\r\n\r\nb\r\r", &["", "", "b"])] {
            let index = LineIndex::of(text.as_bytes());
            let found = (1..).map_while(|number| index.line(text.as_bytes(), number)).map(|line| line.characters(0..9));
            assert_eq!(found.collect::<Vec<_>>(), lines, "{text:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_bounded_as_well() {
        let text = [b"a".to_vec(), vec![0x80; 100_000], b"b".to_vec()].concat();
        let index = LineIndex::of(&text);
        let line = index.line(&text, 1).unwrap();
        assert_eq!(line.length(), 2);
        assert_eq!(line.characters(1..2), "b");
        assert_eq!(line.characters(0..9).chars().count(), 9);
    }
}
