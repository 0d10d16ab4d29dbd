use std::io::{BufRead as _, IsTerminal as _};
use std::sync::mpsc::{Receiver, channel};

/// Returns true if somebody can be asked: there is a terminal to write to and one to read from.
#[must_use]
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Reads one line of the terminal. The channel closes without one at the end of input; a caller that stops waiting leaves the
/// reading behind, as nothing can take it back.
#[must_use]
pub fn line() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).is_ok_and(|read| read > 0) {
            // Nobody listens any more: the run is over.
            let _ = sender.send(line);
        }
    });
    receiver
}
