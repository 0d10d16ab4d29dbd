use std::ffi::OsStr;
use std::io::{IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};

use super::Closed;
use crate::{program, terminal};

/// The default pager: it ends if everything fits on the screen, shows colours, and leaves the text on the screen.
const DEFAULT: &str = "less -FRX";

/// A program that shows text page by page. Dropping it waits until the reader quits.
#[derive(Debug)]
pub struct Pager(Child);

impl Pager {
    /// Starts the user's pager; `None` if there is none, none is wanted, or nobody is there to quit it.
    pub fn start() -> Option<Self> {
        if terminal::is_pipeline() || terminal::is_dumb() || !std::io::stdin().is_terminal() {
            return None;
        }
        let chosen = std::env::var_os("KUBECTL_RECONCILE_PAGER").or_else(|| std::env::var_os("PAGER"));
        let line = chosen.unwrap_or_else(|| DEFAULT.into());
        let words = program::words(line.to_str()?).ok()?;
        let (name, arguments) = words.split_first().filter(|(name, _)| *name != "cat")?;
        let path = program::find(OsStr::new(name)).ok()?;
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
