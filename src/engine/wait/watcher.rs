//! Keeps the objects of one [`ListWatch`] up to date: a LIST, then a watch, and both again whenever the watch ends. A user who may not
//! watch polls; a user who may not list reads objects by name.

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
use super::watched::is_settled;
use crate::client::{Cluster, IN_FLIGHT, Request, RequestError, WatchEvent};
use crate::live::answer::{Asked, misfit_of_item};
use crate::live::list::{Budget, MEMORY, Pages};
use reconcile_core::diagnostic::{Code, Diagnostic};

/// The interval of polling.
const POLL: Duration = Duration::from_secs(2);
/// The time in seconds after which the server ends a watch: a connection that was lost silently is noticed by then at the latest.
const STREAM: u64 = 290;
/// A watch that lasted this long counts as successful.
const GOOD: Duration = Duration::from_secs(5);
/// The number of failures in a row after which a watcher gives up; with the pauses in between, about a minute.
const ATTEMPTS: u32 = 10;
/// The number of events about objects that the label selector of the request excludes, after which a watcher gives up.
const STRAYS: u32 = 100;

/// The number of times that a scope is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    /// Once.
    Once,
    /// Again and again.
    Ongoing,
}

/// An update of a scope.
#[derive(Debug)]
pub(super) enum WatchUpdate {
    /// All objects.
    Listed(Listing),
    /// An object in its new state.
    Set(Value),
    /// An object was deleted.
    Deleted(Value),
    /// The scope cannot be read at the moment.
    Failing(Diagnostic),
    /// The scope cannot be read, and is not tried again.
    GivenUp(Diagnostic),
}

/// The objects of a scope at one moment.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The objects.
    pub objects: Vec<Value>,
    /// The names of objects that could not be read.
    pub unreadable: Vec<(String, Diagnostic)>,
}

/// The way of reading that the server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Watch,
    List,
    Get,
}

/// Reads one scope.
pub(super) struct Watcher {
    /// The connection.
    pub cluster: Cluster,
    /// The scope.
    pub scope: ListWatch,
    /// The index of this scope in the tracker.
    pub index: usize,
    /// The channel to the tracker.
    pub updates: mpsc::Sender<(usize, WatchUpdate)>,
    /// Permits for watches, because each holds a connection. A watcher without one polls.
    pub streams: Arc<Semaphore>,
}

impl Watcher {
    /// Reads until nothing more can change or the scope cannot be read, or until it is dropped.
    pub async fn run(self, looks: Looks) {
        let mut access = self.access(looks);
        let mut failures = 0_u32;
        let mut breaks = 0_u32;
        loop {
            let (listing, version) = match self.look(&mut access).await {
                Ok(look) => look,
                Err(error) => {
                    failures = failures.saturating_add(1);
                    if looks == Looks::Once || is_final(&error) || failures == ATTEMPTS {
                        return self.send(WatchUpdate::GivenUp(self.diagnose(&error))).await;
                    }
                    self.send(WatchUpdate::Failing(self.diagnose(&error))).await;
                    sleep(pause(failures)).await;
                    continue;
                }
            };
            failures = 0;
            let is_over = looks == Looks::Once || self.is_over(&listing);
            self.send(WatchUpdate::Listed(listing)).await;
            if is_over {
                return;
            }
            let permit = self.streams.try_acquire().ok();
            match version.filter(|_| access == Access::Watch).zip(permit) {
                None => sleep(POLL).await,
                Some((version, _permit)) => {
                    let opened = Instant::now();
                    if let Some(diagnostic) = self.follow(&version, &mut access).await {
                        return self.send(WatchUpdate::GivenUp(diagnostic)).await;
                    }
                    breaks = if opened.elapsed() >= GOOD { 0 } else { breaks.saturating_add(1) };
                    sleep(pause(breaks)).await;
                }
            }
        }
    }

    fn diagnose(&self, error: &RequestError) -> Diagnostic {
        Diagnostic::about(&self.scope.resource.gvk, error)
    }

    async fn send(&self, update: WatchUpdate) {
        // If the receiver is gone, this task is about to end.
        let _ = self.updates.send((self.index, update)).await;
    }

    /// Sends that an object is gone, unless it was never wanted.
    async fn send_deleted(&self, object: Value) {
        if self.scope.names().is_none() || self.scope.keeps(&object) {
            self.send(WatchUpdate::Deleted(object)).await;
        }
    }

    /// Returns true if there is nothing to watch: each object cannot be read, or is ready and stays so.
    fn is_over(&self, listing: &Listing) -> bool {
        let gvk = &self.scope.resource.gvk;
        let now = Timestamp::now();
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

    /// Reads all objects once. Returns the resourceVersion to watch from as well, if they were listed.
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
            let answer = answer.and_then(|reply| Asked::key(&key).read(cluster, reply.body()));
            (key.name, answer)
        });
        let answers: Vec<_> = futures::stream::iter(reads).buffered(IN_FLIGHT).collect().await;
        let mut listing = Listing::default();
        for (name, answer) in answers {
            match answer {
                Ok(object) => listing.objects.push(object),
                Err(error) if error.is_not_found() => {}
                Err(error) if is_refusal(&error) || error.is_bad_answer() => {
                    listing.unreadable.push((name, self.diagnose(&error)));
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
        let wants = |_: &str, name: &str| self.scope.names().is_some_and(|names| names.contains(name));
        pages = match self.scope.names() {
            Some(_) => pages.wanting(&wants),
            None => pages.keeping(self.scope.fields),
        };
        let mut listing = Listing::default();
        let mut budget = self.budget();
        let mut version = None;
        let mut spoilt = Vec::new();
        loop {
            let page = match pages.next().await {
                Ok(Some(page)) => page,
                Ok(None) => break,
                // The kind is not served any more, so there are no objects of it.
                Err(error) if error.is_not_found() => return Ok((Listing::default(), None)),
                Err(error) => return Err(error),
            };
            if page.starts_over {
                listing = Listing::default();
                version = None;
                budget = self.budget();
                spoilt.clear();
            }
            version = version.or(page.version);
            let kept = page.objects.into_iter().filter(|item| self.scope.keeps(item)).collect();
            listing.objects.extend(budget.admit(kept)?);
            spoilt.extend(page.spoilt);
        }
        // An item that cannot be read may be any of the missing objects.
        if let (Some(names), Some(spoilt)) = (self.scope.names(), spoilt.first()) {
            let found: BTreeSet<&str> = listing.objects.iter().filter_map(ObjectMeta::name).collect();
            let missing = names.iter().filter(|name| !found.contains(name.as_str()));
            let diagnostic = Diagnostic::new(
                Code::Failed,
                format!("an object that the server listed cannot be read: {}", spoilt.cause),
            );
            listing.unreadable = missing.map(|name| (name.clone(), diagnostic.clone())).collect();
        }
        Ok((listing, version))
    }

    /// The memory for the objects. Those that are selected by name are as many as the manifests.
    fn budget(&self) -> Budget {
        Budget::of(if self.scope.names().is_some() { usize::MAX } else { MEMORY })
    }

    fn fits(&self, object: &Value) -> bool {
        misfit_of_item(object, &self.scope.resource, self.scope.namespace.as_deref()).is_none()
    }

    /// Sends changes until the watch ends for any reason. Then everything is read again, unless the server does not select the objects
    /// that are requested: this is returned.
    async fn follow(&self, version: &str, access: &mut Access) -> Option<Diagnostic> {
        let changes = self.scope.address().with("watch", "true").with("allowWatchBookmarks", "true");
        let changes = changes.with("resourceVersion", version).with("timeoutSeconds", STREAM.to_string());
        let mut stream = match self.cluster.watch(changes, self.scope.fields).await {
            Ok(stream) => stream,
            Err(error) => {
                if is_refusal(&error) {
                    *access = Access::List;
                }
                return None;
            }
        };
        let mut strays = 0_u32;
        loop {
            match stream.next().await {
                // The event is about another object: everything is read again.
                Ok(Some(WatchEvent::Set(object) | WatchEvent::Deleted(object))) if !self.fits(&object) => return None,
                Ok(Some(WatchEvent::Set(object))) if self.scope.keeps(&object) => {
                    self.send(WatchUpdate::Set(object)).await;
                }
                Ok(Some(WatchEvent::Set(object))) => {
                    let is_stray = self.scope.names().is_none() && !self.scope.selects(&object);
                    strays = strays.saturating_add(u32::from(is_stray));
                    if strays > STRAYS {
                        let message = "the server sends objects that the label selector of the request excludes";
                        return Some(Diagnostic::new(Code::Failed, message));
                    }
                    // It may have been kept before, with other labels or owners.
                    self.send_deleted(object).await;
                }
                Ok(Some(WatchEvent::Deleted(object))) => self.send_deleted(object).await,
                Ok(Some(WatchEvent::Bookmark)) => {}
                Ok(Some(WatchEvent::Failed(_)) | None) | Err(_) => return None,
            }
        }
    }
}

/// Returns true if another attempt would fail in the same way: the server refuses the request, or there are too many objects.
fn is_final(error: &RequestError) -> bool {
    is_refusal(error) || matches!(error, RequestError::TooLarge { .. })
}

/// Returns true if the server would refuse the request again, because of the user or the request itself.
fn is_refusal(error: &RequestError) -> bool {
    error.status().is_some_and(|status| (400..500).contains(&status.code) && !matches!(status.code, 408 | 410 | 429))
}

/// 250 ms after the first failure, twice as long after each further one, up to 8 s.
fn pause(failures: u32) -> Duration {
    Duration::from_millis(125).saturating_mul(2_u32.saturating_pow(failures.min(6)))
}
