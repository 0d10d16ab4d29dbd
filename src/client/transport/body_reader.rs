//! The body of an answer for a parser that reads while it arrives.

use std::io::{self, Read};

use bytes::{Buf as _, Bytes};
use tokio::sync::mpsc;

/// The number of frames that wait for the parser.
const WAITING: usize = 4;

/// A body that arrives in frames. Reading blocks the thread until the next frame is there; the body ends when its sender is dropped.
pub struct BodyReader {
    frames: mpsc::Receiver<Bytes>,
    frame: Bytes,
}

impl BodyReader {
    /// A reader, and the sender of its frames.
    pub fn channel() -> (mpsc::Sender<Bytes>, Self) {
        let (sender, frames) = mpsc::channel(WAITING);
        (sender, Self { frames, frame: Bytes::new() })
    }
}

/// A body that has arrived.
impl From<Bytes> for BodyReader {
    fn from(body: Bytes) -> Self {
        let (_, reader) = Self::channel();
        Self { frame: body, ..reader }
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.frame.is_empty() {
            match self.frames.blocking_recv() {
                Some(frame) => self.frame = frame,
                None => return Ok(0),
            }
        }
        let read = self.frame.as_ref().read(buffer)?;
        self.frame.advance(read);
        Ok(read)
    }
}
