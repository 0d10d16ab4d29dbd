use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use super::Closed;
use crate::program;

/// The default pager: it ends if everything fits on the screen, shows colours, and leaves the text on the screen.
const DEFAULT: &str = "less -FRX";

/// A program that shows text page by page. Dropping it waits until the reader quits.
#[derive(Debug)]
pub struct Pager(Child);

impl Pager {
    /// Starts the user's pager; `None` if there is none, or none is wanted.
    #[must_use]
    pub fn start() -> Option<Self> {
        let chosen = std::env::var_os("KUBECTL_RECONCILE_PAGER").or_else(|| std::env::var_os("PAGER"));
        let line = chosen.unwrap_or_else(|| DEFAULT.into());
        let words = words(line.to_str()?);
        let (name, arguments) = words.split_first().filter(|(name, _)| *name != "cat")?;
        let path = program::find(name).ok()?;
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::piped());
        // As git does, if one of these is chosen without options.
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        if std::env::var_os("LV").is_none() {
            command.env("LV", "-c");
        }
        command.spawn().ok().map(Self)
    }

    /// Shows more text. Fails once the reader has quit.
    pub fn write(&mut self, text: &str) -> Result<(), Closed> {
        let Some(stdin) = &mut self.0.stdin else { return Err(Closed) };
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).map_err(|_| Closed)
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Splits a command line into words. Only quotes have a meaning, as no shell is involved.
fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let (mut word, mut quote) = (None::<String>, None);
    for c in line.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if c == '\'' || c == '"' => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_at_blanks_outside_of_quotes() {
        assert_eq!(words(" less -FRX  '+/a b' "), ["less", "-FRX", "+/a b"]);
        assert_eq!(words("\"/my programs/less\" ''"), ["/my programs/less", ""]);
        assert_eq!(words(" "), [""; 0]);
        assert_eq!(words("less; rm -rf $HOME"), ["less;", "rm", "-rf", "$HOME"], "no shell reads it");
    }
}
