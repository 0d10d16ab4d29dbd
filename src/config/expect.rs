//! `expect:`, where the manifests belong. It only narrows: a run elsewhere is refused.

use apply_set::ParentReference;
use http::Uri;

use super::file::{ConfigNode, File};
use crate::cli::{ConnectionArgs, PruneArgs};
use reconcile_core::diagnostic::{Diagnostic, Location};
use reconcile_core::live::Target;
use reconcile_core::manifest::yaml::Step;
use reconcile_core::rules::Glob;
use reconcile_core::text::{listed, one_line};

/// The most items of a list.
pub(super) const MAX_ITEMS: usize = 100;
/// The longest item, in bytes.
pub(super) const MAX_TEXT: usize = 1000;
/// The most items that a message names.
const NAMED: usize = 10;

/// The places where the manifests belong; each that is given has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expectation {
    /// Contexts of the kubeconfig.
    pub contexts: Option<Expected<Glob>>,
    /// URLs of API servers.
    pub servers: Option<Expected<String>>,
    /// Namespaces of the objects that live in one.
    pub namespaces: Option<Expected<Glob>>,
    /// The apply set, as `--applyset` names it.
    pub applyset: Option<Expected<String>>,
}

/// The values that one key allows, and its location in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected<T> {
    /// The values, of which there is at least one.
    pub allowed: Vec<T>,
    location: Location,
}

impl<T: ToString> Expected<T> {
    fn names(&self) -> String {
        let names: Vec<String> = self.allowed.iter().map(ToString::to_string).collect();
        listed(names.iter().map(String::as_str), NAMED)
    }

    /// An error at this key.
    fn refused(&self, message: String, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { location: Some(self.location.clone()), ..Diagnostic::general(message).with_hint(hint) }
    }
}

impl Expectation {
    /// Refuses flags that choose another cluster than the context, if only contexts are expected.
    pub fn allows_flags(&self, args: &ConnectionArgs) -> Result<(), Diagnostic> {
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
        let refused = targets.iter().filter_map(|target| {
            let Diagnostic { message, hint, .. } = self.refusal_of_namespace(target.key.namespace.as_deref()?)?;
            let at = [Step::Key("metadata"), Step::Key("namespace")];
            Some(Diagnostic { hint, ..target.desired.origin.diagnostic_at_value(&at, message) })
        });
        let refused: Vec<Diagnostic> = refused.collect();
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// The apply set that `apply` has to name, if there is one.
    pub fn apply_set(&self) -> Option<&str> {
        self.applyset.as_ref()?.allowed.first().map(String::as_str)
    }

    /// Refuses an apply without the expected apply set, or with another one.
    pub fn allows_apply_set(&self, args: &PruneArgs) -> Result<(), Diagnostic> {
        let Some(expected) = &self.applyset else { return Ok(()) };
        let Some(wanted) = expected.allowed.first() else { return Ok(()) };
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
    let mut list = |key, example, check: fn(&str) -> Result<(), String>| {
        keys.key(key).map(|node| list(file, &node, key, example, check))
    };
    let any = |_: &str| Ok(());
    let contexts = list("contexts", "contexts: [\"prod-*\"]", any);
    let servers = list("servers", "servers: [\"https://10.1.2.3:6443\"]", |text| match canonical(text) {
        Some(_) => Ok(()),
        None => Err(format!("`{}` is not the URL of a server", one_line(text, 100))),
    });
    let namespaces = list("namespaces", "namespaces: [shop, \"shop-*\"]", |text| {
        Glob::of_names(text).map(drop).map_err(|error| error.to_string())
    });
    let globs = |texts: Expected<String>, read: fn(&str) -> Option<Glob>| Expected {
        allowed: texts.allowed.iter().filter_map(|text| read(text)).collect(),
        location: texts.location,
    };
    let contexts = contexts.map(|texts| globs(texts, |text| Some(Glob::of_contexts(text))));
    let namespaces = namespaces.map(|texts| globs(texts, |text| Glob::of_names(text).ok()));
    let applyset = keys.key("applyset").and_then(|node| applyset(file, &node));
    file.end(keys);
    Expectation { contexts, servers, namespaces, applyset }
}

/// The strings of a list that is not empty.
fn list(
    file: &mut File<'_>,
    node: &ConfigNode<'_>,
    key: &str,
    example: &str,
    check: fn(&str) -> Result<(), String>,
) -> Expected<String> {
    let items = file.items(node, &format!("`{key}`"), MAX_ITEMS, example);
    if node.value.as_array().is_some_and(Vec::is_empty) {
        file.of_key(node, format!("`{key}` is empty, so that nothing would be allowed"), format!("write `{example}`"));
    }
    let mut allowed = Vec::new();
    for item in &items {
        let Some(text) = file.text(item, &format!("an item of `{key}`"), example) else { continue };
        match check(text) {
            Ok(()) if text.len() <= MAX_TEXT => allowed.push(text.to_owned()),
            Ok(()) => file.of_value(item, format!("an item of `{key}` is longer than {MAX_TEXT} bytes"), "shorten it"),
            Err(message) => file.of_value(item, message, format!("write it as in `{example}`")),
        }
    }
    Expected { allowed, location: file.location(node) }
}

fn applyset(file: &mut File<'_>, node: &ConfigNode<'_>) -> Option<Expected<String>> {
    let text = file.text(node, "`applyset`", "applyset: secret/pay")?;
    if let Err(message) = ParentReference::parse(text) {
        file.of_value(node, one_line(&message, 200), "write `NAME` for a Secret, or `RESOURCE[.GROUP]/NAME`");
        return None;
    }
    Some(Expected { allowed: vec![text.to_owned()], location: file.location(node) })
}

/// The scheme, the host, the port and the path of a URL; `None` if it is not the URL of a server.
fn canonical(url: &str) -> Option<(String, String, u16, String)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_lowercase();
    let usual = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let host = uri.host().filter(|host| !host.is_empty())?.to_lowercase();
    Some((scheme, host, uri.port_u16().unwrap_or(usual), uri.path().trim_end_matches('/').to_owned()))
}
