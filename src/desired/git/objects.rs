//! The content of files, from `git cat-file --batch`.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use reconcile_core::diagnostic::Diagnostic;

use crate::desired::files::{MAX_INPUT, reason};

/// Longest line before a content, in bytes.
const HEADER: u64 = 256;

/// A process that prints objects as they are stored. It runs no filter and no conversion.
#[derive(Debug)]
pub struct Objects {
    child: Child,
    /// The ids of the contents that are asked for. A thread of their own reads them, so that one that does not come is given up.
    asked: Sender<String>,
    answers: Receiver<io::Result<Vec<u8>>>,
    limit: Duration,
    /// True once a content did not come: it might still, and would be taken for the next one.
    is_given_up: bool,
}

impl Objects {
    /// Starts the process, which has this time for each content.
    pub(super) fn begin(command: Command, limit: Duration) -> Result<Self, Diagnostic> {
        Self::within(command, limit)
            .map_err(|error| Diagnostic::general(format!("`git cat-file` cannot be run: {}", reason(&error))))
    }

    fn within(mut command: Command, limit: Duration) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("it has no input or output");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (asked, ids) = mpsc::channel::<String>();
        let (found, answers) = mpsc::channel();
        thread::spawn(move || {
            let mut input = input;
            let mut output = BufReader::new(output);
            ids.into_iter().try_for_each(|id| found.send(answer(&mut input, &mut output, &id)).ok())
        });
        Ok(Self { child, asked, answers, limit, is_given_up: false })
    }

    /// The content of a file.
    pub fn content(&mut self, id: &str) -> io::Result<Vec<u8>> {
        let ended = || io::Error::other("git has ended");
        if self.is_given_up {
            return Err(ended());
        }
        self.asked.send(id.to_owned()).map_err(|_| ended())?;
        self.answers.recv_timeout(self.limit).unwrap_or_else(|error| {
            self.is_given_up = true;
            let _ = self.child.kill();
            Err(match error {
                RecvTimeoutError::Timeout => {
                    io::Error::other(format!("git did not print it within {}s", self.limit.as_secs()))
                }
                RecvTimeoutError::Disconnected => ended(),
            })
        })
    }
}

/// Asks for a content and reads it.
fn answer(input: &mut ChildStdin, output: &mut BufReader<impl Read>, id: &str) -> io::Result<Vec<u8>> {
    input.write_all(format!("{id}\n").as_bytes())?;
    input.flush()?;
    let mut header = Vec::new();
    output.by_ref().take(HEADER).read_until(b'\n', &mut header)?;
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
    let read = output.by_ref().take(size.saturating_add(1)).read_to_end(&mut content)?;
    if u64::try_from(read).ok() != Some(size.saturating_add(1)) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    content.pop();
    Ok(content)
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// Objects of a script that plays `git cat-file --batch`.
    fn played(script: &str) -> Objects {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Objects::within(command, Duration::from_secs(1)).unwrap()
    }

    #[test]
    fn contents_come_one_after_the_other() {
        let mut objects = played("while read -r id; do printf '%s blob 2\\n%s\\n' $id $id; done");
        for id in ["a1", "b2", "a1"] {
            assert_eq!(objects.content(id).unwrap(), id.as_bytes());
        }
    }

    #[test]
    fn a_content_has_bounds_of_time_and_size() {
        let refused = |script: &str| played(script).content("a1").unwrap_err().to_string();
        assert_eq!(refused("read -r id; exec sleep 60"), "git did not print it within 1s");
        assert_eq!(refused("read -r id; printf 'a1 blob 9\\nab'; exec sleep 60"), "git did not print it within 1s");
        assert_eq!(
            refused("read -r id; printf 'a1 blob 1073741825\\n'; exec cat /dev/zero"),
            "it is larger than 1 GiB"
        );
        assert_eq!(refused("read -r id; echo a1 missing"), "its content is not in this clone of the repository");
        assert_eq!(
            refused("read -r id; exec tr '\\0' x < /dev/zero"),
            "its content is not in this clone of the repository",
            "a header is bounded"
        );
        refused("read -r id; printf 'a1 blob 9\\nab'");
        refused("exit 0");
    }

    #[test]
    fn nothing_is_read_after_a_content_that_did_not_come() {
        let mut objects = played("read -r id; sleep 2; printf 'a1 blob 2\\na1\\n'; sleep 60");
        objects.content("a1").unwrap_err();
        thread::sleep(Duration::from_millis(1500));
        assert!(objects.content("b2").is_err());
    }
}
