use std::fmt::Write as _;

use reconcile_core::text::visible;

/// Longest comment that GitHub takes, in characters.
const LIMIT: usize = 65_536;
/// The end of a folded part.
const END_OF_FOLD: &str = "\n</details>\n";
/// Space that is reserved for the line that counts the omissions, in characters.
const RESERVE: usize = 200;

/// A comment that is never longer than GitHub allows.
#[derive(Default)]
pub(super) struct Comment {
    text: String,
    length: usize,
    /// Space that is kept for what comes later, in characters.
    kept: usize,
    left_out: Vec<(&'static str, usize)>,
}

impl Comment {
    /// Keeps room for lines that come later, whatever comes before them; of too many, half of the comment.
    pub fn keep_room(&mut self, lines: &[String]) {
        self.kept = self.kept.saturating_add(room(lines)).min(LIMIT / 2);
    }

    /// Appends lines for which room was kept.
    pub fn push_kept(&mut self, lines: &[String]) {
        self.kept = self.kept.saturating_sub(room(lines));
        for line in lines {
            self.push(line);
        }
    }

    /// The longest text as yet, in characters.
    fn limit(&self) -> usize {
        LIMIT.saturating_sub(RESERVE).saturating_sub(self.kept)
    }

    /// Appends a short text.
    pub fn push(&mut self, text: &str) {
        self.add(text, "line");
    }

    /// Appends a piece, or counts it where there is no room.
    pub fn add(&mut self, piece: &str, noun: &'static str) {
        let length = piece.chars().count();
        let length = self.length + length;
        if length <= self.limit() {
            self.text.push_str(piece);
            self.length = length;
            return;
        }
        match self.left_out.iter_mut().find(|(other, _)| *other == noun) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((noun, 1)),
        }
    }

    /// Begins a folded part, whose end has room as well. Returns false if there is no room.
    pub fn begin_fold(&mut self, summary: &str) -> bool {
        let begin = format!("\n<details><summary>{summary}</summary>\n");
        let length = self.length + begin.chars().count() + END_OF_FOLD.len();
        let has_room = length <= self.limit();
        if has_room {
            self.text.push_str(&begin);
            self.length = length;
        }
        has_room
    }

    /// Ends a folded part.
    pub fn end_fold(&mut self) {
        self.text.push_str(END_OF_FOLD);
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

/// The length of lines, in characters.
fn room(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count()).sum()
}

fn plural(noun: &str) -> String {
    match noun.split_once(' ') {
        Some((first, rest)) => format!("{first}s {}", rest.replace("its", "their")),
        None => format!("{noun}s"),
    }
}

/// A sentence of the program, which may contain names from outside: nothing in it is Markdown.
pub(super) fn sentence(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        if c.is_ascii_punctuation() && !",;.()-:/".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A code span: nothing in it is Markdown, HTML, a mention or a link.
pub(super) fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(std::slice::from_ref(&text)).saturating_add(1));
    let edge = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() { " " } else { "" };
    format!("{fence}{edge}{text}{edge}{fence}")
}

/// A code span in a table, where a bar would begin the next cell even in code.
pub(super) fn in_cell(text: &str) -> String {
    code(&visible(text).replace('|', "\\u{7c}"))
}

/// The longest run of backticks.
pub(super) fn longest_run<S: AsRef<str>>(texts: &[S]) -> usize {
    let runs = |text: &S| text.as_ref().split(|c| c != '`').map(str::len).max().unwrap_or_default();
    texts.iter().map(runs).max().unwrap_or_default()
}

/// Text between tags.
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('@', "&#64;")
}
