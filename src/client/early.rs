//! Reads that are sent before it is certain that they are needed, such as LISTs of built-in kinds while discovery is under way.
//!
//! They are ordinary requests: each is counted, has its deadline, waits for its turn and ends with the run. The first request that
//! reads the same takes the answer, be it an object or a refusal. Nobody sees the answer to a read that no request needs.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinHandle;

use super::request::{Reply, Request};
use reconcile_core::request::RequestError;

/// The most reads that are sent early.
pub const MOST_EARLY: usize = 32;
/// The largest answer to an early read that is kept until it is needed, in bytes.
pub(super) const LARGEST: usize = 8 << 20;
/// The most bytes that are kept of all such answers.
const ALL: usize = 32 << 20;

type Answer = Result<Reply, RequestError>;

/// The early reads of a connection that no request has needed yet.
#[derive(Default)]
pub(super) struct EarlyReads {
    reads: Mutex<Vec<EarlyRead>>,
    /// The bytes of all answers so far.
    kept: Arc<AtomicUsize>,
}

struct EarlyRead {
    request: Request,
    /// The answer, unless it is too large to keep.
    answer: JoinHandle<Option<Answer>>,
}

/// A read that is not needed ends.
impl Drop for EarlyRead {
    fn drop(&mut self) {
        self.answer.abort();
    }
}

impl fmt::Debug for EarlyReads {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EarlyReads").field("reads", &self.reads().len()).finish_non_exhaustive()
    }
}

impl EarlyReads {
    fn reads(&self) -> MutexGuard<'_, Vec<EarlyRead>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to send a read.
    pub fn begin(&self, request: Request, answer: impl Future<Output = Answer> + Send + 'static) {
        let kept = Arc::clone(&self.kept);
        let answer = tokio::spawn(async move {
            match answer.await {
                Ok(reply) if !has_room(&kept, reply.body.len()) => None,
                Err(RequestError::TooLarge { .. }) => None,
                answer => Some(answer),
            }
        });
        self.reads().push(EarlyRead { request, answer });
    }

    /// The answer to the early read that reads the same, if there is one: from now on there is none.
    pub async fn answer(&self, request: &Request) -> Option<Answer> {
        let mut read = {
            let mut reads = self.reads();
            let index = reads.iter().position(|read| read.request.is_same_read(request))?;
            reads.swap_remove(index)
        };
        (&mut read.answer).await.ok().flatten()
    }

    /// Ends the reads for which this returns false.
    pub fn keep(&self, is_needed: impl Fn(&Request) -> bool) {
        self.reads().retain(|read| is_needed(&read.request));
    }
}

/// Counts the bytes of an answer. Returns false if they are too many to keep.
fn has_room(kept: &AtomicUsize, bytes: usize) -> bool {
    kept.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn reply(bytes: usize) -> Reply {
        Reply { status: 200, body: Bytes::from(vec![b' '; bytes]), warnings: Vec::new() }
    }

    async fn length(reads: &EarlyReads, request: &Request) -> Option<usize> {
        reads.answer(request).await.map(|answer| answer.unwrap().body.len())
    }

    #[tokio::test]
    async fn an_answer_is_taken_once_and_by_the_same_read_only() {
        let reads = EarlyReads::default();
        let list = || Request::list("/api/v1/pods");
        reads.begin(list(), async { Ok(reply(3)) });
        for other in [Request::get("/api/v1/pods"), Request::list("/api/v1/nodes"), list().with_accept("text/plain")] {
            assert_eq!(length(&reads, &other).await, None);
        }
        assert_eq!(length(&reads, &list()).await, Some(3));
        assert_eq!(length(&reads, &list()).await, None);
    }

    #[tokio::test]
    async fn a_refusal_is_the_answer_and_too_much_is_none() {
        let reads = EarlyReads::default();
        let list = || Request::list("/api/v1/pods");
        reads.begin(list(), async { Err(RequestError::Stopped) });
        assert!(matches!(reads.answer(&list()).await, Some(Err(RequestError::Stopped))));
        reads.begin(list(), async { Err(RequestError::TooLarge { limit: LARGEST }) });
        assert!(reads.answer(&list()).await.is_none());
        let fitting = ALL / LARGEST;
        for number in 0..=fitting {
            reads.begin(list(), async { Ok(reply(LARGEST)) });
            assert_eq!(length(&reads, &list()).await.is_some(), number < fitting, "{number}");
        }
    }

    #[tokio::test]
    async fn what_is_not_needed_ends() {
        let reads = EarlyReads::default();
        let (ended, end) = tokio::sync::oneshot::channel::<()>();
        reads.begin(Request::list("/api/v1/pods"), async {
            let _ended = ended;
            std::future::pending().await
        });
        reads.begin(Request::list("/api/v1/nodes"), async { Ok(reply(1)) });
        reads.keep(|request| request.address != "/api/v1/pods".into());
        assert!(end.await.is_err(), "its future is dropped");
        assert_eq!(length(&reads, &Request::list("/api/v1/nodes")).await, Some(1));
    }
}
