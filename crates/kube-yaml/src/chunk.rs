//! Chunks of an input that can be read independently, and therefore in parallel.

use super::{AliasBudget, MAX_INPUT, Mark, Stream, Validation, stream};
use crate::text::Advance as _;

/// A run of documents of an input, or all of them.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    text: &'a [u8],
    /// The position of the first line of YAML documents; `None` for an input in any format, or its beginning.
    start: Option<Mark>,
}

impl<'a> Chunk<'a> {
    /// Makes one chunk of an input.
    pub fn whole(input: &'a [u8]) -> Self {
        Self { text: input, start: None }
    }

    /// Cuts an input at separators into chunks of `size` bytes or slightly more. An input that is not YAML in UTF-8 is
    /// one chunk.
    pub fn of(input: &'a [u8], size: usize) -> Vec<Self> {
        if input.len() <= size || input.len() > MAX_INPUT || !stream::is_yaml(input) {
            return vec![Self::whole(input)];
        }
        let mut chunks = Vec::new();
        let mut from = 0_usize;
        let mut line = 1_usize;
        while let Some((end, next)) = separator(input, from.saturating_add(size)) {
            chunks.push(Self::documents(&input[from..end], line));
            line.advance(input[from..next].iter().map(|byte| usize::from(*byte == b'\n')).sum::<usize>());
            from = next;
        }
        chunks.push(Self::documents(&input[from..], line));
        chunks
    }

    fn documents(text: &'a [u8], line: usize) -> Self {
        let start = Mark { line: u32::try_from(line).unwrap_or(u32::MAX), column: 1 };
        Self { text, start: (line > 1).then_some(start) }
    }

    /// Reads the chunk, with a budget that all chunks of all inputs share. Documents are numbered from 1; lines count from the
    /// start of the input.
    pub fn read(&self, validation: Validation, budget: &AliasBudget) -> Stream {
        match self.start {
            None => stream::read(self.text, validation, budget),
            Some(start) => stream::read_documents(self.text, start, validation, budget),
        }
    }
}

/// The first separator behind an offset that ends one document and begins another: the offsets of its line and of the
/// next line. A separator directly below another belongs to the document that begins there.
fn separator(input: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut lines = input.get(from..)?.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let mut next = from;
    next.advance(lines.next()?.len());
    // True if the line above is neither a separator nor a comment, which may belong to the next document; false for the line in
    // which the search begins, as it is unknown there.
    let mut is_apart = false;
    for line in lines {
        let at = next;
        next.advance(line.len());
        if is_apart && stream::is_separator(line) {
            return Some((at, next));
        }
        is_apart = !line.starts_with(stream::SEPARATOR) && !line.starts_with(b"#");
    }
    None
}
