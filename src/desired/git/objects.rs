//! The content of files, from `git cat-file --batch`.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use reconcile_core::diagnostic::Diagnostic;

use crate::desired::files::{MAX_INPUT, reason};

/// Longest line before a content, in bytes.
const HEADER: u64 = 256;

/// A process that prints objects as they are stored. It runs no filter and no conversion.
#[derive(Debug)]
pub struct Objects {
    child: Child,
    asked: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    pub(super) fn begin(mut command: Command) -> Result<Self, Diagnostic> {
        let failed =
            |error: &io::Error| Diagnostic::general(format!("`git cat-file` cannot be run: {}", reason(error)));
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(|error| failed(&error))?;
        let asked = child.stdin.take();
        let answers = child.stdout.take();
        let answers = answers.ok_or_else(|| failed(&io::Error::other("it has no output")))?;
        Ok(Self { child, asked, answers: BufReader::new(answers) })
    }

    /// The content of a file.
    pub fn content(&mut self, id: &str) -> io::Result<Vec<u8>> {
        let asked = self.asked.as_mut().ok_or_else(|| io::Error::other("git has ended"))?;
        asked.write_all(format!("{id}\n").as_bytes())?;
        asked.flush()?;
        let mut header = Vec::new();
        (&mut self.answers).take(HEADER).read_until(b'\n', &mut header)?;
        let header = String::from_utf8_lossy(&header).into_owned();
        let mut words = header.split_ascii_whitespace();
        let _ = words.next();
        let kind = words.next();
        let size = words.next();
        let size = match (kind, size.and_then(|size| size.parse::<u64>().ok())) {
            (Some("blob"), Some(size)) if size <= MAX_INPUT => size,
            (Some("blob"), Some(_)) => return Err(io::Error::other("it is larger than 1 GiB")),
            _ => return Err(io::Error::other("its content is not in this clone of the repository")),
        };
        let mut content = Vec::new();
        let read = (&mut self.answers).take(size.saturating_add(1)).read_to_end(&mut content)?;
        if u64::try_from(read).ok() != Some(size.saturating_add(1)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        content.pop();
        Ok(content)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        drop(self.asked.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
