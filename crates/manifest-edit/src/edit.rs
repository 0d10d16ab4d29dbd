//! Edits of a file, and which of them can be made.

use super::change::Edit;
use super::file::File;
use super::refusal::Refusal;

/// Bytes that are read at most to find the edits that can be made together.
const EFFORT: usize = 1 << 30;

/// An edit that is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Its index among the edits.
    pub edit: usize,
    /// The reason.
    pub refusal: Refusal,
}

/// A file after the edits that could be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: Vec<u8>,
    /// The edits that were not made, in order.
    pub refused: Vec<Refused>,
}

/// Edits the text of a file: as many of the edits as can be made together. The others are refused, each with its reason.
#[must_use]
pub fn edit(text: &[u8], edits: &[Edit]) -> Edited {
    let Some(file) = File::read(text) else {
        let refused = (0..edits.len()).map(|edit| Refused { edit, refusal: Refusal::Unreadable });
        return Edited { text: text.to_vec(), refused: refused.collect() };
    };
    let mut search = Search { file: &file, accepted: Vec::new(), text: None, refused: Vec::new(), effort: EFFORT };
    let all: Vec<(usize, &Edit)> = edits.iter().enumerate().collect();
    search.accept(&all);
    let Search { text: new, mut refused, .. } = search;
    refused.sort_unstable_by_key(|refused| refused.edit);
    Edited { text: new.unwrap_or_else(|| text.to_vec()), refused }
}

/// Finds the edits that can be made together: all of them, or those of one half and then of the other.
struct Search<'e> {
    file: &'e File<'e>,
    accepted: Vec<&'e Edit>,
    text: Option<Vec<u8>>,
    refused: Vec<Refused>,
    effort: usize,
}

impl<'e> Search<'e> {
    fn accept(&mut self, edits: &[(usize, &'e Edit)]) {
        if edits.is_empty() {
            return;
        }
        let accepted = self.accepted.len();
        self.accepted.extend(edits.iter().map(|(_, edit)| *edit));
        let result = match self.effort.checked_sub(self.file.len()) {
            Some(left) => {
                self.effort = left;
                self.file.with(&self.accepted)
            }
            None => Err(Refusal::Meaning),
        };
        match result {
            Ok(text) => return self.text = Some(text),
            Err(refusal) if edits.len() == 1 || self.effort < self.file.len() => {
                self.refused.extend(edits.iter().map(|(edit, _)| Refused { edit: *edit, refusal }));
            }
            Err(_) => {
                self.accepted.truncate(accepted);
                let (first, second) = edits.split_at(edits.len().div_ceil(2));
                self.accept(first);
                return self.accept(second);
            }
        }
        self.accepted.truncate(accepted);
    }
}
