//! Keeps what is known of one [`ListWatch`] up to date: a LIST, then a stream of changes, and both again whenever the stream ends.
//! Who may not watch polls; who may not list reads by name.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use jiff::Timestamp;
use serde_json::Value;
use structured_merge::ObjectMeta;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::sleep;

use super::list_watch::{FEW, ListWatch};
use super::rules::is_settled;
use crate::client::{Cluster, IN_FLIGHT, Request, RequestError, WatchEvent};
use crate::diagnostic::{Code, Diagnostic};
use crate::live::answer::{Asked, misfit_of_item};
use crate::live::list::Pages;

/// Between two looks of one who may not watch.
const POLL: Duration = Duration::from_secs(2);
/// After this long the server ends a stream, in seconds: an end that it did not tell is found out by then at the latest.
const STREAM: u64 = 290;
/// A stream that lasted this long was a good one.
const GOOD: Duration = Duration::from_secs(5);
/// So often in a row it may fail to read a scope; with the pauses in between, about a minute.
const ATTEMPTS: u32 = 10;

/// How often a scope is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    /// Once.
    Once,
    /// Again and again.
    Ongoing,
}

/// What is known now of a scope.
#[derive(Debug)]
pub(super) enum WatchUpdate {
    /// All that is there.
    Listed(Listing),
    /// An object as it is now.
    Set(Value),
    /// An object is gone.
    Deleted(Value),
    /// It cannot be read at the moment.
    Failing(Diagnostic),
    /// It cannot be read, and will not be tried again.
    GivenUp(Diagnostic),
}

/// A look at a scope.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The objects that are there.
    pub objects: Vec<Value>,
    /// The names of those that could not be read.
    pub unreadable: Vec<(String, Diagnostic)>,
}

/// The best way that the server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Watch,
    List,
    Get,
}

/// What reads one scope.
pub(super) struct Watcher {
    /// The connection.
    pub cluster: Cluster,
    /// What is read.
    pub scope: ListWatch,
    /// Under which number the news are told.
    pub number: usize,
    /// Where they are told.
    pub news: mpsc::Sender<(usize, WatchUpdate)>,
    /// Streams that may be open at once, as each holds a connection. Who gets none polls.
    pub streams: Arc<Semaphore>,
}

impl Watcher {
    /// Reads until nothing more can be read, or until it is dropped.
    pub async fn run(self, looks: Looks) {
        let mut access = self.access(looks);
        let (mut failures, mut breaks) = (0_u32, 0_u32);
        loop {
            let (listing, version) = match self.look(&mut access).await {
                Ok(look) => look,
                Err(error) => {
                    failures = failures.saturating_add(1);
                    if looks == Looks::Once || is_refusal(&error) || failures == ATTEMPTS {
                        return self.tell(WatchUpdate::GivenUp(self.trouble(&error))).await;
                    }
                    self.tell(WatchUpdate::Failing(self.trouble(&error))).await;
                    sleep(pause(failures)).await;
                    continue;
                }
            };
            failures = 0;
            let is_over = looks == Looks::Once || self.is_over(&listing);
            self.tell(WatchUpdate::Listed(listing)).await;
            if is_over {
                return;
            }
            match version.filter(|_| access == Access::Watch) {
                None => sleep(POLL).await,
                Some(version) => {
                    let opened = Instant::now();
                    self.follow(&version, &mut access).await;
                    breaks = if opened.elapsed() >= GOOD { 0 } else { breaks.saturating_add(1) };
                    sleep(pause(breaks)).await;
                }
            }
        }
    }

    fn trouble(&self, error: &RequestError) -> Diagnostic {
        Diagnostic::about(&self.scope.resource.gvk, error)
    }

    async fn tell(&self, news: WatchUpdate) {
        // The listener is gone, and this task ends with it.
        let _ = self.news.send((self.number, news)).await;
    }

    /// Returns true if there is nothing to follow: of each object it is clear that it cannot be read, or that it is ready and stays so.
    fn is_over(&self, listing: &Listing) -> bool {
        let (gvk, now) = (&self.scope.resource.gvk, Timestamp::now());
        if self.scope.has_rules {
            return false;
        }
        let settled = listing.objects.iter().filter(|object| is_settled(gvk, object, now)).count();
        Some(settled.saturating_add(listing.unreadable.len())) == self.count()
    }

    fn count(&self) -> Option<usize> {
        self.scope.names().map(BTreeSet::len)
    }

    fn access(&self, looks: Looks) -> Access {
        let are_few = looks == Looks::Once && self.count().is_some_and(|count| count <= FEW);
        if are_few || !self.scope.can("list") {
            Access::Get
        } else if self.scope.can("watch") {
            Access::Watch
        } else {
            Access::List
        }
    }

    /// Reads all once; with the resourceVersion from which changes can be followed, where it is one.
    async fn look(&self, access: &mut Access) -> Result<(Listing, Option<String>), RequestError> {
        if *access != Access::Get {
            match self.list().await {
                Err(error) if is_refusal(&error) && self.scope.names().is_some() => *access = Access::Get,
                outcome => return outcome,
            }
        }
        let cluster = &self.cluster;
        let names = self.scope.names().into_iter().flatten();
        let keys: Vec<_> = names.map(|name| self.scope.key(name)).collect();
        let reads = keys.into_iter().map(|key| async move {
            let answer = cluster.send(Request::get(self.scope.object_path(&key.name))).await;
            let answer = answer.and_then(|reply| Asked::key(&key).read(cluster, &reply.body));
            (key.name, answer)
        });
        let answers: Vec<_> = futures::stream::iter(reads).buffered(IN_FLIGHT).collect().await;
        let mut listing = Listing::default();
        for (name, answer) in answers {
            match answer {
                Ok(object) => listing.objects.push(object),
                Err(error) if error.is_not_found() => {}
                Err(error) if is_refusal(&error) || error.is_bad_answer() => {
                    listing.unreadable.push((name, self.trouble(&error)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((listing, None))
    }

    async fn list(&self) -> Result<(Listing, Option<String>), RequestError> {
        let ListWatch { resource, namespace, .. } = &self.scope;
        let mut pages = Pages::new(&self.cluster, resource, namespace.as_deref());
        if let Some((name, value)) = self.scope.selector() {
            pages = pages.with(name, value);
        }
        let mut listing = Listing::default();
        let (mut version, mut spoilt) = (None, Vec::new());
        loop {
            let page = match pages.next().await {
                Ok(Some(page)) => page,
                Ok(None) => break,
                // The kind is not served any more: there are no objects of it.
                Err(error) if error.is_not_found() => return Ok((Listing::default(), None)),
                Err(error) => return Err(error),
            };
            if page.starts_over {
                (listing, version) = (Listing::default(), None);
                spoilt.clear();
            }
            version = version.or(page.version);
            listing.objects.extend(page.objects.into_iter().filter(|item| self.scope.holds(item)));
            spoilt.extend(page.spoilt);
        }
        // Something was listed that nobody can read: it may be any of those that are missing.
        if let (Some(names), Some(spoilt)) = (self.scope.names(), spoilt.first()) {
            let found: BTreeSet<&str> = listing.objects.iter().filter_map(ObjectMeta::name).collect();
            let missing = names.iter().filter(|name| !found.contains(name.as_str()));
            let trouble = Diagnostic::new(
                Code::Failed,
                format!("an object that the server listed cannot be read: {}", spoilt.cause),
            );
            listing.unreadable = missing.map(|name| (name.clone(), trouble.clone())).collect();
        }
        Ok((listing, version))
    }

    fn fits(&self, object: &Value) -> bool {
        misfit_of_item(object, &self.scope.resource, self.scope.namespace.as_deref()).is_none()
    }

    /// Tells changes until the stream ends, for whatever reason: then everything is read again.
    async fn follow(&self, version: &str, access: &mut Access) {
        let Ok(_stream) = self.streams.try_acquire() else { return sleep(POLL).await };
        let changes = self.scope.address().with("watch", "true").with("allowWatchBookmarks", "true");
        let changes = changes.with("resourceVersion", version).with("timeoutSeconds", STREAM.to_string());
        let mut stream = match self.cluster.watch(changes).await {
            Ok(stream) => stream,
            Err(error) => {
                if is_refusal(&error) {
                    *access = Access::List;
                }
                return;
            }
        };
        loop {
            match stream.next().await {
                // Something else than what is followed: what is there is read again.
                Ok(Some(WatchEvent::Set(object) | WatchEvent::Deleted(object))) if !self.fits(&object) => return,
                Ok(Some(WatchEvent::Set(object))) if self.scope.holds(&object) => {
                    self.tell(WatchUpdate::Set(object)).await;
                }
                Ok(Some(WatchEvent::Deleted(object))) if self.scope.holds(&object) => {
                    self.tell(WatchUpdate::Deleted(object)).await;
                }
                Ok(Some(WatchEvent::Set(_) | WatchEvent::Deleted(_) | WatchEvent::Bookmark)) => {}
                Ok(Some(WatchEvent::Failed(_)) | None) | Err(_) => return,
            }
        }
    }
}

/// Returns true if the same would be refused again: by who asks or what is asked, not by the moment.
fn is_refusal(error: &RequestError) -> bool {
    error.status().is_some_and(|status| (400..500).contains(&status.code) && !matches!(status.code, 408 | 410 | 429))
}

/// 250 ms after the first failure, twice as long after each further one, up to 8 s.
fn pause(failures: u32) -> Duration {
    Duration::from_millis(125).saturating_mul(2_u32.saturating_pow(failures.min(6)))
}
