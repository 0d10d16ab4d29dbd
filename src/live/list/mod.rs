//! Lists collections, page by page. Only this module deals with continue tokens.
//!
//! A list that expires half-way (410) is read again from the beginning, without pages, as client-go's pager does. A page that is
//! too large or takes too long is requested again in smaller pages. A list that does not end is an error.

mod page;
mod sieve;

use std::collections::HashSet;

use serde_json::Value;

use super::answer::unexpected;
pub(crate) use page::Spoilt;
use page::{Page, read};
use sieve::{Kept, Sieve};

use crate::client::{Address, Cluster, Request, RequestError};
use reconcile_core::live::Resource;
use reconcile_core::object::{Projection, memory_of};

/// The media types of a list of metadata; a server that does not know the first returns whole objects.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Objects in one page.
const PAGE: usize = 500;
/// Objects in the smallest page that is requested.
const SMALLEST: usize = 5;
/// The most pages of one list: a million objects.
const MOST: usize = 2000;
/// Pages beyond the number that the server announces, because objects may be created during the list.
const SLACK: usize = 16;
/// Pages in a row that may be empty.
const EMPTY: usize = 8;
/// The most bytes of one list.
const BYTES: usize = 1024 << 20;
/// The most memory, in bytes, of the objects of one list.
pub(crate) const MEMORY: usize = 64 << 20;
/// The size in bytes that the pages should have of a list whose objects may be anybody's.
const PAGE_BYTES: usize = 4 << 20;
/// Objects in the first page of such a list, because their size is not known yet.
const FIRST: usize = 25;

/// A limit for the memory of objects. What does not fit is left out, and does not affect what fits.
pub(crate) struct Budget {
    limit: usize,
    used: usize,
}

impl Budget {
    /// A budget of this number of bytes.
    pub fn of(limit: usize) -> Self {
        Self { limit, used: 0 }
    }

    /// Returns the objects of a list if they fit.
    pub fn admit(&mut self, objects: Vec<Value>) -> Result<Vec<Value>, RequestError> {
        let more = objects.iter().map(memory_of).fold(self.used, usize::saturating_add);
        if more > self.limit {
            return Err(RequestError::TooLarge { limit: self.limit });
        }
        self.used = more;
        Ok(objects)
    }
}

/// A collection that is being listed.
pub(crate) struct Pages<'c> {
    cluster: &'c Cluster,
    resource: &'c Resource,
    namespace: Option<&'c str>,
    address: Address,
    next: Option<Next>,
    /// Objects in the first page, and in each of the others.
    first: usize,
    limit: usize,
    bound: Bound,
    request: fn(Address) -> Request,
    metadata_only: bool,
    kept: Kept<'c>,
    /// True if the number of objects in a page follows from their size.
    adapts: bool,
}

/// The next page to request.
enum Next {
    First,
    After(String),
}

impl<'c> Pages<'c> {
    /// Lists the objects of a resource in one namespace, or in all without one.
    pub fn new(cluster: &'c Cluster, resource: &'c Resource, namespace: Option<&'c str>) -> Self {
        Self {
            cluster,
            resource,
            namespace,
            address: resource.collection_path(namespace),
            next: Some(Next::First),
            first: PAGE,
            limit: PAGE,
            bound: Bound::default(),
            request: Request::list,
            metadata_only: false,
            kept: Kept::ALL,
            adapts: false,
        }
    }

    /// Limits the first page to this number of objects.
    pub fn starting_with(mut self, most: usize) -> Self {
        self.first = most.clamp(SMALLEST, PAGE);
        self
    }

    /// Adds a query parameter, which is a selector.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.address = self.address.with(name, value);
        self
    }

    /// Counts the requests with discovery, because these are not the objects of the manifests.
    pub fn counted_as_other(mut self) -> Self {
        self.request = Request::read;
        self
    }

    /// Searches objects that no manifest has to name.
    pub fn searching(mut self) -> Self {
        self.request = |address| Request::list(address).searching();
        self
    }

    /// Requests only the metadata of each object.
    pub fn metadata_only(mut self) -> Self {
        self.request = |address| Request::list(address).with_accept(METADATA).searching();
        self.metadata_only = true;
        self
    }

    /// Keeps only the objects for whose namespace and name `wants` returns true. The others are counted.
    pub fn wanting(mut self, wants: &'c (dyn Fn(&str, &str) -> bool + Sync)) -> Self {
        let by_name = self.namespace.is_some() || !self.resource.namespaced;
        self.kept = Kept::Wanted(Sieve { wants, by_name });
        self
    }

    /// Keeps only these fields of each object. They have to include the type, the name and the namespace.
    pub fn keeping(mut self, fields: Projection) -> Self {
        self.kept = Kept::Fields(fields);
        self.in_small_pages()
    }

    /// Requests pages that stay small, whatever the size of the objects is.
    fn in_small_pages(mut self) -> Self {
        self.adapts = true;
        self.starting_with(FIRST)
    }

    /// The request of the first page.
    pub fn first_request(&self) -> Request {
        (self.request)(self.page_of(self.first.min(self.limit)))
    }

    /// Reads all pages. Returns the objects, and the items that are none.
    pub async fn all(self) -> Result<(Vec<Value>, Vec<Spoilt>), RequestError> {
        self.all_within(MEMORY).await
    }

    /// Reads all pages. It is an error if the objects need more memory than `limit`, in bytes.
    pub async fn all_within(self, limit: usize) -> Result<(Vec<Value>, Vec<Spoilt>), RequestError> {
        self.in_small_pages().collected(limit).await
    }

    /// Reads all pages, which are as large as they are.
    pub async fn collected(mut self, limit: usize) -> Result<(Vec<Value>, Vec<Spoilt>), RequestError> {
        let mut objects = Vec::new();
        let mut spoilt = Vec::new();
        let mut budget = Budget::of(limit);
        while let Some(page) = self.next().await? {
            if page.starts_over {
                objects.clear();
                spoilt.clear();
                budget = Budget::of(limit);
            }
            objects.extend(budget.admit(page.objects)?);
            spoilt.extend(page.spoilt);
        }
        Ok((objects, spoilt))
    }

    /// Reads the next page; `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Page>, RequestError> {
        self.next_after(std::future::ready(())).await
    }

    /// Reads the next page, and parses it only after `ready`, as its objects need several times the memory of the answer.
    pub async fn next_after(&mut self, ready: impl Future<Output = ()>) -> Result<Option<Page>, RequestError> {
        let Some(next) = self.next.take() else { return Ok(None) };
        let (body, starts_over) = self.ask(&next).await?;
        ready.await;
        let page = read(&body, self.resource, self.namespace, self.metadata_only, self.kept)
            .map_err(|cause| unexpected(self.cluster, cause))?;
        if !self.bound.allows(&page, body.len(), self.limit) {
            return Err(unexpected(self.cluster, "the list does not end"));
        }
        self.next = page.token.clone().map(Next::After);
        self.fit(&page, body.len());
        Ok(Some(Page { starts_over, bytes: body.len(), ..page }))
    }

    /// Chooses the number of objects in the next page.
    fn fit(&mut self, page: &Page, bytes: usize) {
        if self.adapts {
            let each = bytes.checked_div(page.len()).unwrap_or(0).max(1);
            let limit = PAGE_BYTES.checked_div(each).unwrap_or(PAGE).clamp(SMALLEST, PAGE);
            if limit < self.limit {
                // The number of pages that the server announced was for larger ones.
                self.bound.most = MOST;
            }
            self.limit = limit;
        }
    }

    fn page_of(&self, limit: usize) -> Address {
        self.address.clone().with("limit", limit.to_string())
    }

    /// Returns the body of a page, and true if it starts the list over.
    async fn ask(&mut self, next: &Next) -> Result<(bytes::Bytes, bool), RequestError> {
        loop {
            let page = match next {
                Next::First => self.page_of(self.first.min(self.limit)),
                Next::After(token) => self.page_of(self.limit).with("continue", token.as_str()),
            };
            match self.cluster.send((self.request)(page)).await {
                Err(error) if is_too_much(&error) && self.limit > SMALLEST => {
                    self.limit = (self.limit / 10).max(SMALLEST);
                    self.bound.most = MOST;
                }
                Err(error) if is_expired(&error) && matches!(next, Next::After(_)) => {
                    let whole = self.cluster.send((self.request)(self.address.clone())).await?;
                    return Ok((whole.into_body(), true));
                }
                answer => return Ok((answer?.into_body(), false)),
            }
        }
    }
}

/// Returns true if a smaller page may succeed: the answer was too large, as it is or as it was sent, or it began but was not complete in
/// time, or the server itself timed out.
fn is_too_much(error: &RequestError) -> bool {
    use RequestError::{TooDense, TooLarge, TooSlow};
    matches!(error, TooLarge { .. } | TooDense { .. } | TooSlow { .. })
        || error.status().is_some_and(|status| status.code == 504)
}

fn is_expired(error: &RequestError) -> bool {
    error.status().is_some_and(|status| status.code == 410)
}

/// Ends lists that have no end.
struct Bound {
    pages: usize,
    most: usize,
    bytes: usize,
    empty: usize,
    tokens: HashSet<String>,
}

impl Default for Bound {
    fn default() -> Self {
        Self { pages: 0, most: MOST, bytes: 0, empty: 0, tokens: HashSet::new() }
    }
}

impl Bound {
    /// Counts a page. Returns false if the list goes on although it should have ended.
    fn allows(&mut self, page: &Page, bytes: usize, limit: usize) -> bool {
        self.pages = self.pages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        self.empty = if page.len() == 0 { self.empty.saturating_add(1) } else { 0 };
        // The server's first number counts: one that grows from page to page would never be reached.
        if let (Some(left), true) = (page.left, self.most == MOST) {
            let left = usize::try_from(left).ok().and_then(|left| left.checked_div(limit)).unwrap_or(usize::MAX);
            let most = self.pages.saturating_add(SLACK).saturating_add(left.saturating_mul(2));
            self.most = most.min(MOST.saturating_sub(1));
        }
        let Some(token) = &page.token else { return true };
        self.pages < self.most && self.bytes <= BYTES && self.empty < EMPTY && self.tokens.insert(token.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: usize, left: Option<u64>, items: usize) -> Page {
        let objects = vec![Value::Null; items];
        Page { objects, left, token: Some(format!("token-{number}")), ..Page::default() }
    }

    /// Number of pages that are read of a list that never ends.
    fn read(page: impl Fn(usize) -> Page) -> usize {
        let mut bound = Bound::default();
        (0..10_000).take_while(|number| bound.allows(&page(*number), 1000, PAGE)).count()
    }

    #[test]
    fn a_list_without_end_ends() {
        assert_eq!(read(|number| page(number, Some(1000), 500)), 20);
        assert_eq!(read(|number| page(number, Some(1000 * (number as u64 + 1)), 500)), 20);
        assert_eq!(read(|number| page(number, Some(u64::MAX), 500)), MOST - 2);
        assert_eq!(read(|number| page(number, None, 500)), MOST - 1);
        assert_eq!(read(|number| page(number, None, 0)), EMPTY - 1);
        assert_eq!(read(|number| page(number % 3, None, 500)), 3);
        assert_eq!(read(|_| page(0, Some(1000), 500)), 1);
    }
}
