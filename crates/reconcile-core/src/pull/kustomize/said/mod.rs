//! Messages of kustomize about a build that may have values of Secrets. Only its own sentences are repeated, and in them only names of the
//! build: a value has no way into the text, however it is quoted.

mod names;
mod sentences;

pub use names::Names;
use sentences::{SENTENCES, Then};

/// The most bytes of a message that are looked at.
const MOST_BYTES: usize = 64 << 10;
/// The most characters between two sentences that are repeated, all of them [`JOINTS`].
const JOINT: usize = 5;
/// The characters that join sentences.
const JOINTS: [char; 9] = ['\'', '"', '`', ':', ';', ',', ')', ' ', '\n'];

/// The part of a message that may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The sentences and names that are known, on one line, with `…` for each text between them.
    pub text: String,
    /// True if nothing is left out.
    pub is_whole: bool,
}

/// Keeps what is known of a message: the sentences of kustomize, with the names that follow them.
pub fn said(message: &str, names: &Names) -> Said {
    let whole = message.trim();
    let text = whole.get(..whole.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
    let mut said = Said { text: String::new(), is_whole: text.len() == whole.len() };
    let (mut rest, mut between) = (text, text);
    let mut before = None;
    while let Some(next) = rest.chars().next() {
        let begins = !before.is_some_and(char::is_alphanumeric) || between.len() == rest.len();
        if let Some(length) = begins.then(|| known(rest, names)).flatten() {
            let (sentence, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            said.join(between.strip_suffix(rest).unwrap_or_default(), names);
            said.text.push_str(sentence);
            before = sentence.chars().next_back();
            (rest, between) = (after, after);
        } else {
            before = Some(next);
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
        }
    }
    said.end(between);
    said
}

impl Said {
    /// Adds the text before the next sentence.
    fn join(&mut self, between: &str, names: &Names) {
        if is_joint(between) || names.is_path(between.trim_matches(JOINTS)) {
            let is_broken = between.contains('\n');
            let line = between.split_whitespace().collect::<Vec<_>>().join(" ");
            self.text.push_str(if is_broken { &line } else { between });
            self.text.push_str(if is_broken { " " } else { "" });
        } else {
            self.gap();
            self.text.push(' ');
        }
    }

    /// Adds the text after the last sentence.
    fn end(&mut self, between: &str) {
        if self.text.is_empty() {
            self.is_whole &= between.is_empty();
        } else if is_joint(between) {
            self.text.push_str(between.trim_end());
        } else {
            self.gap();
        }
    }

    /// Adds the mark of a text that is left out, without the quote that begins it.
    fn gap(&mut self) {
        self.is_whole = false;
        let shown = self.text.trim_end_matches(['\'', '"', '`', '(', ' ']).len();
        self.text.truncate(shown);
        self.text.push_str(if self.text.is_empty() { "…" } else { " …" });
    }
}

fn is_joint(text: &str) -> bool {
    text.chars().all(|character| JOINTS.contains(&character)) && text.len() <= JOINT
}

/// The length of the longest sentence that a text begins with, and of the name that ends it if it is known.
fn known(text: &str, names: &Names) -> Option<usize> {
    let length = |(sentence, then): &(&str, Then)| {
        let rest = text.strip_prefix(sentence)?;
        let name = match then {
            Then::End => {
                let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
                let goes_on = is_word(sentence.chars().next_back()) && is_word(rest.chars().next());
                return (!goes_on).then_some(sentence.len());
            }
            Then::Line => names.line(rest),
            Then::File => names.file(rest),
            Then::Object => names.object(rest),
            Then::Word => names.word(rest),
        };
        // A single word is one of kustomize only with its name.
        let is_sentence = name.is_some() || sentence.trim_end().contains(' ');
        is_sentence.then(|| sentence.len().saturating_add(name.unwrap_or_default()))
    };
    SENTENCES.iter().filter_map(length).max()
}

#[cfg(test)]
mod tests;
