use std::io::{BufRead as _, IsTerminal as _};

use tokio::sync::oneshot::{Receiver, channel};

/// Returns true if a person can be asked: stderr and stdin are terminals.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Reads one line of the terminal. At the end of input, there is none. A read cannot be cancelled: it goes on
/// after its caller has stopped waiting.
pub fn line() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).is_ok_and(|read| read > 0) {
            // If this fails, the run is over.
            let _ = sender.send(line);
        }
    });
    receiver
}
