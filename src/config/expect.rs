//! `expect:`, where the manifests belong. It only narrows: a run elsewhere is refused.

use apply_set::ParentReference;
use http::Uri;
use schemars::JsonSchema;
use serde::Serialize;

use structured_merge::ObjectKey;

use super::file::{ConfigNode, File};
use crate::cli::{ConnectOptions, PruneArgs};
use reconcile_core::diagnostic::{Diagnostic, Location};
use reconcile_core::live::Target;
use reconcile_core::manifest::Origin;
use reconcile_core::manifest::yaml::Step;
use reconcile_core::rules::{Glob, MAX_NAME, NAME_PATTERN};
use reconcile_core::text::{listed, one_line, without_credentials};

/// The most items of a list.
const MAX_ITEMS: usize = 100;
/// The longest item, in bytes.
const MAX_TEXT: usize = 1000;
/// The most items that a message names.
const NAMED: usize = 10;
/// An example of servers.
const SERVERS: &str = "servers: [\"https://10.1.2.3:6443\"]";

/// The URL of a server, as a regular expression of JSON Schema.
const SERVER_PATTERN: &str = r"^[hH][tT][tT][pP][sS]?://[^/@?#*\s]+(/[^?#*\s]*)?$";

/// The places where the manifests belong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Expectation {
    /// Contexts of the kubeconfig, with `*` for any characters and `?` for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    #[schemars(length(min = 1, max = MAX_ITEMS), inner(length(min = 1, max = MAX_TEXT)))]
    pub contexts: Option<Expected<Vec<Glob>>>,
    /// URLs of API servers, with the port and the path if they have some; globs are not allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    #[schemars(length(min = 1, max = MAX_ITEMS), inner(length(min = 1, max = MAX_TEXT), regex(pattern = SERVER_PATTERN)))]
    pub servers: Option<Expected<Vec<String>>>,
    /// Namespaces of the objects that live in one, with `*` for any characters and `?` for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    #[schemars(length(min = 1, max = MAX_ITEMS), inner(length(min = 1, max = MAX_NAME), regex(pattern = NAME_PATTERN)))]
    pub namespaces: Option<Expected<Vec<Glob>>>,
    /// The apply set that `apply` has to name with `--applyset`: `[RESOURCE[.GROUP]/]NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^([^/]+/)?[^/]+$"))]
    pub applyset: Option<Expected<String>>,
}

/// The values that one key allows, and its location in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Expected<T> {
    /// The value; a list has one item at least.
    pub allowed: T,
    #[serde(skip)]
    location: Location,
}

impl<T: ToString> Expected<Vec<T>> {
    fn names(&self) -> String {
        let names: Vec<String> = self.allowed.iter().map(ToString::to_string).collect();
        listed(names.iter().map(String::as_str), NAMED)
    }
}

impl<T> Expected<T> {
    /// An error at this key.
    fn refused(&self, message: String, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { location: Some(self.location.clone()), ..Diagnostic::general(message).with_hint(hint) }
    }
}

impl Expectation {
    /// Refuses flags that choose another cluster than the context, if only contexts are expected.
    pub fn allows_flags(&self, args: &ConnectOptions) -> Result<(), Diagnostic> {
        let (Some(contexts), None) = (&self.contexts, &self.servers) else { return Ok(()) };
        let flags = [("--server", &args.server), ("--cluster", &args.cluster)];
        let given = flags.into_iter().find(|(_, value)| value.as_ref().is_some_and(|value| !value.is_empty()));
        let Some((flag, _)) = given else { return Ok(()) };
        let message = format!(
            "`{flag}` replaces the cluster of the context, and `expect` names only contexts: {}",
            contexts.names()
        );
        Err(contexts.refused(message, format!("leave out `{flag}`, or add the server to `expect.servers`")))
    }

    /// Refuses a context and a server that are not expected.
    pub fn allows_cluster(&self, context: Option<&str>, server: Option<&str>) -> Result<(), Diagnostic> {
        if let Some(contexts) = &self.contexts
            && !context.is_some_and(|name| contexts.allowed.iter().any(|glob| glob.matches(name)))
        {
            let names = contexts.names();
            let message = match context {
                Some(name) => format!("context `{}` is not expected here, only {names}", one_line(name, 100)),
                None => format!("no context is used, and only {names} is expected here"),
            };
            return Err(contexts.refused(message, "choose the context with `--context`"));
        }
        if let Some(servers) = &self.servers
            && let Some(server) = server
            && !servers.allowed.iter().any(|url| canonical(url).is_some() && canonical(url) == canonical(server))
        {
            let message =
                format!("the server `{}` is not expected here, only {}", one_line(server, 200), servers.names());
            return Err(servers.refused(message, "choose the context with `--context`"));
        }
        Ok(())
    }

    /// The error for a namespace that is not expected.
    pub fn refusal_of_namespace(&self, name: &str) -> Option<Diagnostic> {
        let namespaces = self.namespaces.as_ref()?;
        if namespaces.allowed.iter().any(|glob| glob.matches(name)) {
            return None;
        }
        let message = format!("namespace `{}` is not expected here, only {}", one_line(name, 100), namespaces.names());
        let hint = format!("correct the namespace, or change `expect.namespaces` at {}", namespaces.location);
        Some(Diagnostic::general(message).with_hint(hint))
    }

    /// Refuses objects in namespaces that are not expected, each at the line of its namespace.
    pub fn allows_targets(&self, targets: &[Target]) -> Result<(), Vec<Diagnostic>> {
        let refused = targets.iter().filter_map(|target| self.refusal_of_object(&target.key, &target.desired.origin));
        let refused: Vec<Diagnostic> = refused.collect();
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// The error for an object in a namespace that is not expected, at the line of its namespace.
    pub fn refusal_of_object(&self, key: &ObjectKey, origin: &Origin) -> Option<Diagnostic> {
        let Diagnostic { message, hint, .. } = self.refusal_of_namespace(key.namespace.as_deref()?)?;
        let at = [Step::Key("metadata"), Step::Key("namespace")];
        Some(Diagnostic { hint, ..origin.diagnostic_at_value(&at, message) })
    }

    /// The apply set that `apply` has to name, if there is one.
    pub fn apply_set(&self) -> Option<&str> {
        Some(&self.applyset.as_ref()?.allowed)
    }

    /// Refuses an apply without the expected apply set, or with another one.
    pub fn allows_apply_set(&self, args: &PruneArgs) -> Result<(), Diagnostic> {
        let Some(expected) = &self.applyset else { return Ok(()) };
        let wanted = expected.allowed.as_str();
        let reference = |text: &str| ParentReference::parse(text).ok();
        let message = match &args.applyset {
            None => format!("these manifests belong to apply set `{wanted}`, and `--applyset` is missing"),
            Some(given) if reference(given).zip(reference(wanted)).is_some_and(|(a, b)| a.is_same(&b)) => return Ok(()),
            Some(given) => {
                format!("these manifests belong to apply set `{wanted}`, not to `{}`", one_line(given, 100))
            }
        };
        let hint = format!("pass `--prune --applyset {wanted}`, or `--no-expect-applyset` to leave this check out");
        Err(expected.refused(message, hint))
    }
}

/// Reads the expectations.
pub(super) fn expectation(file: &mut File<'_>, node: &ConfigNode<'_>) -> Expectation {
    let Some(mut keys) = file.mapping(node, "`expect`") else { return Expectation::default() };
    let expectation = Expectation {
        contexts: keys
            .key("contexts")
            .map(|node| list(file, &node, "contexts: [\"prod-*\"]", |text| Ok(Glob::of_contexts(text)))),
        servers: keys.key("servers").map(|node| list(file, &node, SERVERS, server)),
        namespaces: keys.key("namespaces").map(|node| list(file, &node, "namespaces: [shop, \"shop-*\"]", namespace)),
        applyset: keys.key("applyset").and_then(|node| applyset(file, &node)),
    };
    file.end(keys);
    expectation
}

fn server(text: &str) -> Result<String, Diagnostic> {
    if canonical(text).is_some() {
        return Ok(text.to_owned());
    }
    let shown = without_credentials(text);
    let refused = Diagnostic::general(format!("`{}` is not the URL of a server", one_line(&shown, 100)));
    let is_glob = text.contains(['*', '?']) && !text.contains('=');
    Err(if text.contains('@') {
        refused.with_hint("leave the user name and the password out")
    } else if is_glob {
        refused.with_hint(format!("`servers` takes no globs: list each URL, as in `{SERVERS}`"))
    } else {
        refused
    })
}

fn namespace(text: &str) -> Result<Glob, Diagnostic> {
    Glob::of_names(text).map_err(Diagnostic::general)
}

/// Reads a list that is not empty.
fn list<T>(
    file: &mut File<'_>,
    node: &ConfigNode<'_>,
    example: &str,
    read: impl Fn(&str) -> Result<T, Diagnostic>,
) -> Expected<Vec<T>> {
    let key = node.name();
    let items = file.items(node, MAX_ITEMS, example);
    if node.is_empty_list() {
        file.of_key(node, format!("{key} is empty, so that nothing would be allowed"), format!("write `{example}`"));
    }
    let mut allowed = Vec::new();
    for item in &items {
        let Some(text) = file.text(item, &format!("an item of {key}"), example) else { continue };
        match read(text) {
            Ok(value) if text.len() <= MAX_TEXT => allowed.push(value),
            Ok(_) => file.of_value(item, format!("an item of {key} is longer than {MAX_TEXT} bytes"), "shorten it"),
            Err(Diagnostic { message, hint, .. }) => {
                file.of_value(item, message, hint.unwrap_or_else(|| format!("write it as in `{example}`")));
            }
        }
    }
    Expected { allowed, location: file.location(node) }
}

fn applyset(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Expected<String>> {
    let text = file.text(node, &node.name(), "applyset: secret/pay")?;
    if let Err(message) = ParentReference::parse(text) {
        file.of_value(node, one_line(&message, 200), "write `NAME` for a Secret, or `RESOURCE[.GROUP]/NAME`");
        return None;
    }
    Some(Expected { allowed: text.to_owned(), location: file.location(node) })
}

/// The scheme, the host, the port and the path of a URL; `None` if it is not the URL of a server. One with a user name, a query, a
/// fragment, a star or another port than a number is none: two such URLs would count as the same server.
fn canonical(url: &str) -> Option<(String, String, u16, String)> {
    let is_plain = !url.contains(|c: char| matches!(c, '?' | '#' | '*') || c.is_whitespace());
    let uri: Uri = url.parse().ok().filter(|_| is_plain)?;
    let scheme = uri.scheme_str()?.to_lowercase();
    let usual = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let host = uri.host().filter(|host| !host.is_empty())?;
    let port = match uri.authority()?.as_str().strip_prefix(host)? {
        "" => usual,
        rest => rest.strip_prefix(':').filter(|port| port.bytes().all(|c| c.is_ascii_digit()))?.parse().ok()?,
    };
    Some((scheme, host.to_lowercase(), port, uri.path().trim_end_matches('/').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_scheme_a_host_a_port_and_a_path() {
        for url in [
            "https://10.1.2.3:6443",
            "HTTPS://api.shop",
            "http://localhost/",
            "https://[fd00::1]:6443",
            "https://rancher.shop/k8s/clusters/c-1",
            "https://10.1.2.3:06443",
        ] {
            assert!(server(url).is_ok(), "{url}");
        }
        let refused = [
            "10.1.2.3",
            "10.1.2.3:6443",
            "ftp://10.1.2.3",
            "https://",
            "https:///path",
            "https://10.1.2.3:",
            "https://10.1.2.3:99999",
            "https://10.1.2.3:+443",
            "https://10.1.2.3:https",
            "https://10.1.2.3/#top",
            "https://10.1.2.3?x=y",
            "https://10.1.2.3 ",
            "https://[fd00::1]6443",
            "https://[fd00::1",
        ];
        for url in refused {
            assert_eq!(server(url).unwrap_err().hint, None, "{url}");
        }
        for url in ["https://admin@10.1.2.3", "https://admin:secret@10.1.2.3:6443"] {
            let error = server(url).unwrap_err();
            assert_eq!(error.hint.as_deref(), Some("leave the user name and the password out"), "{url}");
            assert!(!error.message.contains("admin"), "{error}");
        }
        for url in ["https://10.1.2.3:*", "https://*.shop", "https://10.1.2.?:6443", "https://10.1.2.3/*", "*"] {
            assert!(server(url).unwrap_err().hint.unwrap().starts_with("`servers` takes no globs"), "{url}");
        }
    }

    #[test]
    fn only_the_same_server_is_the_same() {
        assert_eq!(canonical("https://A.shop/"), canonical("HTTPS://a.shop:443"));
        assert_eq!(canonical("http://a.shop"), canonical("http://a.shop:80"));
        for other in ["https://a.shop:6443", "http://a.shop", "https://b.shop", "https://a.shop/x"] {
            assert_ne!(canonical("https://a.shop"), canonical(other), "{other}");
        }
    }
}
