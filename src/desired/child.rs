//! Runs another program to its end, within limits of time and of its output.

use std::io::{self, Read, Write as _};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// Interval at which a program that has closed its output is polled for its end.
const POLL: Duration = Duration::from_millis(2);
/// The time after the end of a program for which its messages are awaited: a child of it may hold their pipe for longer.
const LATE: Duration = Duration::from_secs(1);
/// Most bytes of the program's messages that are kept.
const MAX_TEXT: u64 = 64 << 10;

/// A program that has ended.
pub(super) struct Ended {
    pub status: ExitStatus,
    pub output: Vec<u8>,
    /// Its messages.
    pub said: String,
}

/// The reason why there is no output.
pub(super) enum Unended {
    TooLate,
    TooMuch,
    Failed(io::Error),
}

/// Passes a program its input, and reads its output, at most this many bytes, until it ends. A program that is not read to its end is
/// killed.
pub(super) fn ended(mut child: Child, input: &[u8], most: u64, limit: Duration) -> Result<Ended, Unended> {
    let start = Instant::now();
    let ended = output(&mut child, input, most, || limit.saturating_sub(start.elapsed()));
    // After an error it may still write, and nothing reads its output.
    if ended.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

fn output(child: &mut Child, input: &[u8], most: u64, left: impl Fn() -> Duration) -> Result<Ended, Unended> {
    // All pipes are served at the same time, so that the program never blocks. Its children may hold them longer than it lives.
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_vec();
        // A program that reads nothing is judged by its output.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let output = child.stdout.take().map(|pipe| spawn(move || beginning(pipe, most.saturating_add(1))));
    let said = child.stderr.take().map(|pipe| spawn(|| text(pipe)));
    let output = output.map_or_else(|| Ok(Ok(Vec::new())), |output| within(&output, left()))?;
    let output = output.map_err(Unended::Failed)?;
    if u64::try_from(output.len()).unwrap_or(u64::MAX) > most {
        return Err(Unended::TooMuch);
    }
    let status = loop {
        match child.try_wait().map_err(Unended::Failed)? {
            Some(status) => break status,
            None if left().is_zero() => return Err(Unended::TooLate),
            None => std::thread::sleep(POLL),
        }
    };
    let said = said.and_then(|said| said.recv_timeout(LATE).ok()).unwrap_or_default();
    Ok(Ended { status, output, said })
}

/// Runs work on a thread of its own.
fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || sender.send(work()));
    receiver
}

fn within<T>(receiver: &Receiver<T>, left: Duration) -> Result<T, Unended> {
    receiver.recv_timeout(left).map_err(|_| Unended::TooLate)
}

fn text(mut pipe: impl Read) -> String {
    let bytes = beginning(pipe.by_ref(), MAX_TEXT).unwrap_or_default();
    // The rest is read as well, so that the program can end.
    let _ = io::copy(&mut pipe, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The first bytes of a pipe.
fn beginning(pipe: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
