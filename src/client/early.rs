//! Reads that are sent before it is certain that they are needed, such as LISTs of built-in kinds while discovery is under way.
//!
//! They are ordinary requests: each is counted, has its deadline, waits for its turn and ends with the run. The first request that
//! reads the same takes the answer, be it an object or a refusal. Nobody sees the answer to a read that no request needs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::Response;
use tokio::task::JoinHandle;

use super::request::Request;
use reconcile_core::request::RequestError;

/// The most reads that are sent early.
pub const MOST_EARLY: usize = 32;
/// The most bytes of answers that are kept for requests that may come.
const MOST_KEPT: usize = 32 << 20;

type Answer = Result<Response<Bytes>, RequestError>;

/// The early reads of a connection that no request has needed yet.
#[derive(Default)]
pub(super) struct EarlyReads {
    reads: Mutex<Vec<EarlyRead>>,
    /// The number of bytes of the answers that are kept.
    kept: Arc<AtomicUsize>,
}

struct EarlyRead {
    request: Request,
    /// True once a request waits for the answer, which is then read and kept whatever its size is.
    is_awaited: Arc<AtomicBool>,
    /// The answer, unless it is too large to keep.
    answer: JoinHandle<Option<(Answer, Kept)>>,
}

/// A read that is not needed ends.
impl Drop for EarlyRead {
    fn drop(&mut self) {
        self.answer.abort();
    }
}

impl EarlyReads {
    fn reads(&self) -> MutexGuard<'_, Vec<EarlyRead>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to send a read.
    pub fn begin(&self, request: Request, answer: impl Future<Output = Answer> + Send + 'static) {
        let all = Arc::clone(&self.kept);
        let is_awaited = Arc::<AtomicBool>::default();
        let awaited = Arc::clone(&is_awaited);
        let answer = tokio::spawn(async move {
            let answer = answer.await;
            let kept = Kept::among(all, answer.as_ref().map_or(0, |reply| reply.body().len()));
            let is_kept = awaited.load(Ordering::Relaxed) || kept.fits && !is_too_large(&answer);
            is_kept.then_some((answer, kept))
        });
        self.reads().push(EarlyRead { request, is_awaited, answer });
    }

    /// The answer to the early read that reads the same, if there is one: from now on there is none.
    pub async fn answer(&self, request: &Request) -> Option<Answer> {
        let mut read = {
            let mut reads = self.reads();
            let index = reads.iter().position(|read| read.request.is_same_read(request))?;
            reads.swap_remove(index)
        };
        read.is_awaited.store(true, Ordering::Relaxed);
        (&mut read.answer).await.ok().flatten().map(|(answer, _)| answer)
    }

    /// Ends the reads for which this returns false.
    pub fn keep(&self, is_needed: impl Fn(&Request) -> bool) {
        self.reads().retain(|read| is_needed(&read.request));
    }
}

/// Returns true if the answer is larger than answers may be. Together with others, it may have been larger than it is by itself.
fn is_too_large(answer: &Answer) -> bool {
    matches!(answer, Err(RequestError::TooLarge { .. }))
}

/// The bytes of one answer that is kept, which count until it is dropped.
struct Kept {
    all: Arc<AtomicUsize>,
    bytes: usize,
    /// True if there was room for them when the answer came.
    fits: bool,
}

impl Kept {
    fn among(all: Arc<AtomicUsize>, bytes: usize) -> Self {
        let fits = all.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= MOST_KEPT;
        Self { all, bytes, fits }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reconcile_core::request::Address;

    fn reply(bytes: usize) -> Response<Bytes> {
        Response::new(Bytes::from(vec![b' '; bytes]))
    }

    async fn length(reads: &EarlyReads, request: &Request) -> Option<usize> {
        reads.answer(request).await.map(|answer| answer.unwrap().body().len())
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
    async fn a_refusal_is_the_answer() {
        let reads = EarlyReads::default();
        let list = || Request::list("/api/v1/pods");
        reads.begin(list(), async { Err(RequestError::Stopped) });
        assert!(matches!(reads.answer(&list()).await, Some(Err(RequestError::Stopped))));
    }

    /// Waits until the answers have come.
    async fn arrived(reads: &EarlyReads) {
        while !reads.reads().iter().all(|read| read.answer.is_finished()) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn answers_are_kept_up_to_a_limit_that_those_in_use_do_not_fill() {
        let reads = EarlyReads::default();
        let list = |number: usize| Request::list(Address::from("/api/v1").join(format!("pods-{number}")));
        let part = MOST_KEPT / 4;
        for _ in 0..3 {
            for number in 0..5 {
                reads.begin(list(number), async move { Ok(reply(part)) });
                arrived(&reads).await;
            }
            for number in 0..5 {
                assert_eq!(length(&reads, &list(number)).await.is_some(), number < 4, "{number}");
            }
        }
        // Answers that nobody needs free their room as well.
        reads.begin(list(0), async { Ok(reply(MOST_KEPT)) });
        arrived(&reads).await;
        reads.keep(|_| false);
        tokio::task::yield_now().await;
        reads.begin(list(0), async { Ok(reply(MOST_KEPT)) });
        arrived(&reads).await;
        assert_eq!(length(&reads, &list(0)).await, Some(MOST_KEPT));
    }

    #[tokio::test]
    async fn an_answer_that_somebody_awaits_is_never_dropped() {
        let reads = EarlyReads::default();
        let list = || Request::list("/api/v1/pods");
        let (arrives, arrival) = tokio::sync::oneshot::channel::<()>();
        reads.begin(list(), async {
            drop(arrival.await);
            Ok(reply(2 * MOST_KEPT))
        });
        let request = list();
        let (answer, _) = futures::join!(length(&reads, &request), async { arrives.send(()) });
        assert_eq!(answer, Some(2 * MOST_KEPT));
        reads.begin(list(), async { Ok(reply(MOST_KEPT + 1)) });
        arrived(&reads).await;
        assert_eq!(length(&reads, &list()).await, None, "nobody needed it when it came");
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
