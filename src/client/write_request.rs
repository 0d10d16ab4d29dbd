//! Requests that change objects. The types keep dry runs and writes apart.

use bytes::Bytes;
use http::Method;
use serde_json::Value;

use super::request::{Request, RequestKind, Retry};
use reconcile_core::request::{Address, apply_body};

/// A change of an object. [`WriteRequest::dry_run`] and [`WriteRequest::write`] make a request of it.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    method: Method,
    address: Address,
    content_type: &'static str,
    body: Bytes,
}

impl WriteRequest {
    /// A change with any method and body.
    pub fn new(method: Method, address: Address, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { method, address, content_type, body: body.into() }
    }

    /// A server-side apply. With `fieldValidation=Ignore`, the server need not read the body twice: a body that we
    /// serialised has no duplicate keys, and an apply refuses unknown fields anyway.
    pub fn apply(object: Address, manager: &str, force: bool, body: &Value) -> Self {
        let address = by(object, manager).with("fieldValidation", "Ignore").with("force", force.to_string());
        Self::new(Method::PATCH, address, "application/apply-patch+yaml", apply_body(body))
    }

    /// The creation of an object in a collection.
    pub fn create(collection: Address, manager: &str, body: &Value) -> Self {
        let address = by(collection, manager).with("fieldValidation", "Ignore");
        Self::new(Method::POST, address, "application/json", body.to_string())
    }

    /// A JSON patch (RFC 6902).
    pub fn json_patch(object: Address, manager: &str, operations: &Value) -> Self {
        Self::new(Method::PATCH, by(object, manager), "application/json-patch+json", operations.to_string())
    }

    /// A JSON merge patch (RFC 7386).
    pub fn merge_patch(object: Address, manager: &str, patch: &Value) -> Self {
        Self::new(Method::PATCH, by(object, manager), "application/merge-patch+json", patch.to_string())
    }

    /// A deletion with these `DeleteOptions`.
    pub fn delete(object: Address, options: &Value) -> Self {
        Self::new(Method::DELETE, object, "application/json", options.to_string())
    }

    /// The change as a dry run (`dryRun=All`), which changes nothing and may be repeated.
    pub fn dry_run(self) -> DryRun {
        DryRun(self.request(RequestKind::DryRun, Retry::Safe))
    }

    /// The change as a write.
    pub fn write(self, retry: Retry) -> Write {
        Write(self.request(RequestKind::Write, retry))
    }

    fn request(self, kind: RequestKind, retry: Retry) -> Request {
        let Self { method, address, content_type, body } = self;
        let content_type = Some(content_type);
        let limit = kind.body_limit();
        Request { kind, method, address, accept: None, content_type, body, retry, limit, searches: false }
    }
}

fn by(address: Address, manager: &str) -> Address {
    address.with("fieldManager", manager)
}

/// A dry run of a change. It cannot be sent without `dryRun=All`.
#[derive(Clone, Debug)]
pub struct DryRun(Request);

/// A write.
#[derive(Clone, Debug)]
pub struct Write(Request);

/// A change that is sent, or tried. It is no [`Request`] for other modules, so that it cannot be sent without a place for the warnings
/// in its answer.
#[derive(Clone, Debug)]
pub struct Change(pub(super) Request);

impl From<DryRun> for Change {
    fn from(change: DryRun) -> Self {
        Self(change.0)
    }
}

impl From<Write> for Change {
    fn from(change: Write) -> Self {
        Self(change.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    impl From<DryRun> for Request {
        fn from(change: DryRun) -> Self {
            change.0
        }
    }

    impl From<Write> for Request {
        fn from(change: Write) -> Self {
            change.0
        }
    }

    #[test]
    fn only_a_dry_run_asks_for_one_and_may_always_be_repeated() {
        let object = || Address::from("/api/v1/namespaces/shop/configmaps/web");
        let changes = [
            WriteRequest::apply(object(), "me", true, &json!({})),
            WriteRequest::create(object(), "me", &json!({})),
            WriteRequest::json_patch(object(), "me", &json!([])),
            WriteRequest::delete(object(), &json!({})),
        ];
        for change in changes {
            let tried = Request::from(change.clone().dry_run());
            assert_eq!((tried.kind, tried.retry), (RequestKind::DryRun, Retry::Safe));
            assert!(tried.text().contains("?dryRun=All"), "{}", tried.text());
            let made = Request::from(change.write(Retry::Never));
            assert_eq!((made.kind, made.retry), (RequestKind::Write, Retry::Never));
            assert!(!made.text().contains("dryRun"), "{}", made.text());
        }
    }
}
