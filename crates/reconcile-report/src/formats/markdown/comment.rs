use std::fmt::Write as _;

/// Longest comment that GitHub takes, in characters.
const LIMIT: usize = 65_536;
/// Space that is reserved for the line that counts the omissions, in characters.
const RESERVE: usize = 200;

/// A comment that is never longer than GitHub allows.
#[derive(Default)]
pub(super) struct Comment {
    text: String,
    length: usize,
    left_out: Vec<(&'static str, usize)>,
}

impl Comment {
    /// Appends a short text.
    pub fn push(&mut self, text: &str) {
        self.add(text, "line");
    }

    /// Appends a piece, or counts it where there is no room.
    pub fn add(&mut self, piece: &str, noun: &'static str) {
        let length = piece.chars().count();
        let length = self.length + length;
        if length <= LIMIT.saturating_sub(RESERVE) {
            self.text.push_str(piece);
            self.length = length;
            return;
        }
        match self.left_out.iter_mut().find(|(other, _)| *other == noun) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((noun, 1)),
        }
    }

    pub fn end(mut self) -> String {
        if !self.left_out.is_empty() {
            let counts = self.left_out.iter().map(|(noun, count)| match *count {
                1 => format!("1 {noun}"),
                more => format!("{more} {}", plural(noun)),
            });
            let counts: Vec<String> = counts.collect();
            let _ =
                writeln!(self.text, "\n… left out, as a comment has at most 65,536 characters: {}", counts.join(", "));
        }
        self.text
    }
}

fn plural(noun: &str) -> String {
    match noun.split_once(' ') {
        Some((first, rest)) => format!("{first}s {}", rest.replace("its", "their")),
        None => format!("{noun}s"),
    }
}
