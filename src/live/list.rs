//! Lists collections, page by page. Only this module deals with continue tokens.
//!
//! A list that expires half-way (410) is read again from the beginning, without pages, as client-go's pager does. A page that is
//! too large or takes too long is requested again in smaller pages. A list that does not end is an error.

use std::collections::HashSet;

use serde_json::Value;

use super::answer::unexpected;
pub(crate) use super::page::Spoilt;
use super::page::{Page, read};
use super::sieve::Sieve;
use crate::client::{Address, Cluster, Request, RequestError};
use reconcile_core::live::Resource;

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
    sieve: Option<Sieve<'c>>,
}

/// The next page to request.
enum Next {
    First,
    After(String),
}

impl<'c> Pages<'c> {
    /// Lists the objects of a resource in one namespace, or in all without one.
    pub fn new(cluster: &'c Cluster, resource: &'c Resource, namespace: Option<&'c str>) -> Self {
        let address = resource.collection_path(namespace);
        let next = Some(Next::First);
        let request = Request::list;
        let (first, limit, bound, metadata_only) = (PAGE, PAGE, Bound::default(), false);
        Self { cluster, resource, namespace, address, next, first, limit, bound, request, metadata_only, sieve: None }
    }

    /// The same, with at most this many objects in the first page.
    pub fn starting_with(mut self, most: usize) -> Self {
        self.first = most.clamp(SMALLEST, PAGE);
        self
    }

    /// The same, with another query parameter: a selector.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.address = self.address.with(name, value);
        self
    }

    /// The same, counted with discovery: these are not the objects of the manifests.
    pub fn counted_as_other(mut self) -> Self {
        self.request = Request::read;
        self
    }

    /// The same, with only the metadata of each object.
    pub fn metadata_only(mut self) -> Self {
        self.request = |address| Request::list(address).with_accept(METADATA);
        self.metadata_only = true;
        self
    }

    /// The same, with only the objects for whose namespace and name `wants` returns true. Unwanted objects are counted.
    pub fn wanting(mut self, wants: &'c (dyn Fn(&str, &str) -> bool + Sync)) -> Self {
        let by_name = self.namespace.is_some() || !self.resource.namespaced;
        self.sieve = Some(Sieve { wants, by_name });
        self
    }

    /// Reads all pages. Returns the objects, and the items that are none.
    pub async fn all(mut self) -> Result<(Vec<Value>, Vec<Spoilt>), RequestError> {
        let (mut objects, mut spoilt) = (Vec::new(), Vec::new());
        while let Some(page) = self.next().await? {
            if page.starts_over {
                objects.clear();
                spoilt.clear();
            }
            objects.extend(page.objects);
            spoilt.extend(page.spoilt);
        }
        Ok((objects, spoilt))
    }

    /// Reads the next page; `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Page>, RequestError> {
        let Some(next) = self.next.take() else { return Ok(None) };
        let (body, starts_over) = self.ask(&next).await?;
        let page = read(&body, self.resource, self.namespace, self.metadata_only, self.sieve)
            .map_err(|cause| unexpected(self.cluster, cause))?;
        if !self.bound.allows(&page, body.len(), self.limit) {
            return Err(unexpected(self.cluster, "the list does not end"));
        }
        self.next = page.token.clone().map(Next::After);
        Ok(Some(Page { starts_over, bytes: body.len(), ..page }))
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
                    return Ok((whole.body, true));
                }
                answer => return Ok((answer?.body, false)),
            }
        }
    }
}

/// Returns true if a smaller page may succeed: the answer was too large, or it began but was not complete in time, or the server
/// itself timed out.
fn is_too_much(error: &RequestError) -> bool {
    matches!(error, RequestError::TooLarge { .. } | RequestError::TooSlow { .. })
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
        let is_empty = page.objects.is_empty() && page.unwanted == 0 && page.spoilt.is_empty();
        self.empty = if is_empty { self.empty.saturating_add(1) } else { 0 };
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
