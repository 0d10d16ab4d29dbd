//! `--context`: selects contexts of the kubeconfig.

use crate::cli::ConnectOptions;
use crate::client::{Context, Contexts, Environment};
use crate::config::Expectation;
use crate::output::Output;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::Discovery;
use reconcile_core::live::resolve::{Namespaces, key_of};
use reconcile_core::manifest::Manifest;
use reconcile_core::rules::Glob;
use reconcile_core::text::{listed, one_line};
use reconcile_report::{Failure, Verdict};

/// The most names that a message lists.
const NAMES_SHOWN: usize = 10;

/// The contexts that `--context` names.
pub(crate) enum ChosenContexts {
    /// The command runs once, over this connection.
    One(Box<ConnectOptions>),
    /// It runs in each of these contexts.
    Several(Vec<Context>),
}

/// One of the contexts.
pub(crate) struct Member<'a> {
    /// The context; `None` if it is the only one.
    pub context: Option<&'a Context>,
    /// The flags for its connection.
    pub connection: ConnectOptions,
    /// The output of its own, or that of the run.
    pub output: &'a Output,
}

impl<'a> Member<'a> {
    /// One of several contexts, over a connection with these flags.
    pub fn of(context: &'a Context, connection: &ConnectOptions, output: &'a Output) -> Self {
        let connection = ConnectOptions { context: Some(context.name.clone()), ..connection.clone() };
        Self { context: Some(context), connection, output }
    }
}

impl ChosenContexts {
    /// Reads `--context`. A context with exactly this name is selected, whatever characters it has; otherwise commas separate names,
    /// and a name with `*` selects all contexts that match.
    pub fn of(args: &ConnectOptions) -> Result<Self, Failure> {
        let Some(text) = args.context.as_deref().filter(|text| text.contains([',', '*'])) else {
            return Ok(Self::one(args));
        };
        let known = Contexts::load(args.kubeconfig.as_deref(), &Environment::from_process()).map_err(not_connected)?;
        if known.named(text).is_ok() {
            return Ok(Self::one(args));
        }
        let contexts = select(text, &known).map_err(not_connected)?;
        if let [only] = contexts.as_slice() {
            return Ok(Self::One(Box::new(ConnectOptions { context: Some(only.name.clone()), ..args.clone() })));
        }
        match override_of_one_cluster(args) {
            None => Ok(Self::Several(contexts)),
            Some(flag) => {
                let hint = "it would apply to all of them: name one context, or set it in the kubeconfig";
                Err(Failure::refused(format!("`{flag}` and several contexts cannot be combined"), hint))
            }
        }
    }

    /// The connection of these flags as they are.
    pub fn one(args: &ConnectOptions) -> Self {
        Self::One(Box::new(args.clone()))
    }

    /// Returns true if the command runs in more than one context.
    pub fn are_several(&self) -> bool {
        matches!(self, Self::Several(_))
    }

    /// The connection of a command or a flag that takes a single context; several are an error.
    pub fn only(&self, what: &str) -> Result<&ConnectOptions, Failure> {
        match self {
            Self::One(args) => Ok(args),
            Self::Several(contexts) => {
                let names = listed(contexts.iter().map(|context| context.name.as_str()), NAMES_SHOWN);
                let hint = format!("run it once for each of them: {names}");
                Err(Failure::refused(format!("`{what}` takes a single context"), hint))
            }
        }
    }
}

/// Each context once, in the order in which they are named; those that match the same glob by name.
fn select(text: &str, known: &Contexts) -> Result<Vec<Context>, Diagnostic> {
    let mut selected: Vec<Context> = Vec::new();
    for name in text.split(',') {
        let mut found: Vec<&Context> = Vec::new();
        if name.is_empty() {
            let message = format!("`--context={text}` has an empty name");
            return Err(Diagnostic::general(message).with_hint("write `--context=NAME,NAME`, without spaces"));
        } else if name.contains('*') && known.named(name).is_err() {
            let glob = Glob::new(name);
            found.extend(known.all().iter().filter(|context| glob.matches(&context.name)));
            if found.is_empty() {
                let diagnostic = Diagnostic::general(format!("no context of the kubeconfig matches `{name}`"));
                let names = listed(known.all().iter().map(|context| context.name.as_str()), NAMES_SHOWN);
                return Err(if names.is_empty() {
                    diagnostic
                } else {
                    diagnostic.with_hint(format!("the kubeconfig has {names}"))
                });
            }
        } else {
            found.push(known.named(name)?);
        }
        for context in found {
            if !selected.iter().any(|one| one.name == context.name) {
                selected.push(context.clone());
            }
        }
    }
    Ok(selected)
}

/// Returns a flag that replaces an entry of one cluster or one user. Given to several clusters, it would send the
/// credentials of one to all of them, or trust all of them as one.
fn override_of_one_cluster(args: &ConnectOptions) -> Option<&'static str> {
    let given = [
        ("--server", args.server.is_some()),
        ("--cluster", args.cluster.is_some()),
        ("--user", args.user.is_some()),
        ("--token", args.token.is_some()),
        ("--certificate-authority", args.certificate_authority.is_some()),
        ("--client-certificate", args.client_certificate.is_some()),
        ("--client-key", args.client_key.is_some()),
        ("--tls-server-name", args.tls_server_name.is_some()),
        ("--insecure-skip-tls-verify", args.insecure_skip_tls_verify == Some(true)),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// Refuses the run if one of its contexts is not expected, before anything is sent to any of them.
pub(crate) fn all_expected(contexts: &[Context], expect: &Expectation) -> Result<(), Vec<Diagnostic>> {
    let refused = |context: &Context| expect.allows_cluster(Some(&context.name), context.server.as_deref()).err();
    let refused: Vec<Diagnostic> = contexts.iter().filter_map(refused).collect();
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

/// Refuses the run if one of its contexts puts an object into a namespace that is not expected, as far as kinds are known without a cluster:
/// those that are built in, and those that the input defines.
pub(crate) fn all_in_expected_namespaces(
    manifests: &[Manifest],
    contexts: &[Context],
    namespace: Option<&str>,
    expect: &Expectation,
) -> Result<(), Vec<Diagnostic>> {
    if expect.namespaces.is_none() {
        return Ok(());
    }
    let mut kinds = Discovery::builtin();
    manifests.iter().filter(|manifest| manifest.gvk().is_crd()).for_each(|manifest| kinds.expect(manifest.object()));
    let mut refused: Vec<Diagnostic> = Vec::new();
    for (at, context) in contexts.iter().enumerate() {
        let namespaces = Namespaces { required: None, default: default_namespace(context, namespace).to_owned() };
        let mut is_refused = false;
        for manifest in manifests {
            let is_written = manifest.namespace().is_some();
            // A namespace in a manifest is the same in all contexts. Of the objects without one, the first says it for its context.
            let is_said = if is_written { at > 0 } else { is_refused };
            if is_said {
                continue;
            }
            let key = key_of(manifest, &kinds, &namespaces);
            let Some(mut refusal) = expect.refusal_of_object(&key, manifest.origin()) else { continue };
            if !is_written {
                refusal.message = format!("context `{}`: {}", one_line(&context.name, 100), refusal.message);
                is_refused = true;
            }
            refused.push(refusal);
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

/// The namespace of objects that name none: that of `--namespace`, if it is given, or else of the context.
fn default_namespace<'n>(context: &'n Context, given: Option<&'n str>) -> &'n str {
    given.filter(|name| !name.is_empty()).unwrap_or(&context.namespace)
}

/// Warnings about contexts that have the same cluster and namespace.
pub(crate) fn same_targets(contexts: &[Context], namespace: Option<&str>) -> Vec<String> {
    let target = |context: &Context| {
        Some((context.server.clone()?, context.proxy.clone(), default_namespace(context, namespace).to_owned()))
    };
    let mut warnings = Vec::new();
    for (at, context) in contexts.iter().enumerate() {
        let is_same = |other: &&Context| target(context).is_some() && target(context) == target(other);
        let is_first = !contexts.iter().take(at).any(|other| is_same(&other));
        let others: Vec<&Context> = contexts.iter().skip(at + 1).filter(is_same).collect();
        if is_first && !others.is_empty() {
            let names = [context].into_iter().chain(others).map(|one| one.name.as_str());
            warnings.push(format!("these contexts are the same cluster and namespace: {}", listed(names, NAMES_SHOWN)));
        }
    }
    warnings
}

/// The failure for a connection that could not be prepared. Without credentials, the cluster counts as unreachable; everything
/// else is an error in the command line or the kubeconfig.
pub(crate) fn not_connected(diagnostic: Diagnostic) -> Failure {
    let verdict = if diagnostic.code == Code::Unauthorized { Verdict::Unreachable } else { Verdict::Invalid };
    Failure { verdict, diagnostics: vec![diagnostic] }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::commands::{Cli, Command};

    const KUBECONFIG: &str = "
clusters: [{name: one, cluster: {server: 'https://one/'}}, {name: two, cluster: {server: 'https://two'}}]
contexts:
- {name: prod-eu, context: {cluster: one}}
- {name: prod-us, context: {cluster: two}}
- {name: prod-eu-admin, context: {cluster: one, namespace: default}}
- {name: dev, context: {cluster: one, namespace: dev}}
- {name: 'a,b', context: {cluster: one}}
- {name: 'odd*', context: {cluster: one}}
";

    /// The names of the contexts that flags mean, or the message.
    fn names(flags: &[&str]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, KUBECONFIG).unwrap();
        let file = file.display().to_string();
        let arguments = ["kubectl-reconcile", "diff", "-f", ".", "--kubeconfig", &file];
        let Command::Diff(args) = Cli::try_parse_from(arguments.iter().chain(flags)).unwrap().command else { panic!() };
        match ChosenContexts::of(&args.connection) {
            Ok(ChosenContexts::One(args)) => Ok(args.context.into_iter().collect()),
            Ok(ChosenContexts::Several(contexts)) => Ok(contexts.into_iter().map(|context| context.name).collect()),
            Err(failure) => Err(failure.diagnostics.iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn names_globs_and_exact_names_are_distinguished() {
        for (context, expected) in [
            ("dev", &["dev"][..]),
            ("missing", &["missing"]),
            ("a,b", &["a,b"]),
            ("odd*", &["odd*"]),
            ("dev,odd*", &["dev", "odd*"]),
            ("dev,prod-*,prod-us", &["dev", "prod-eu", "prod-eu-admin", "prod-us"]),
            ("prod-us,prod-*", &["prod-us", "prod-eu", "prod-eu-admin"]),
            ("*admin", &["prod-eu-admin"]),
            ("dev,dev", &["dev"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(names(&["--context", context]), Ok(expected), "{context}");
        }
        assert_eq!(names(&[]), Ok(Vec::new()));
    }

    #[test]
    fn what_means_no_context_is_refused() {
        for (context, message) in [
            ("dev,", "has an empty name"),
            ("dev,missing", "context `missing` does not exist"),
            ("dev,x*", "no context of the kubeconfig matches `x*`"),
        ] {
            assert!(names(&["--context", context]).unwrap_err().contains(message), "{context}");
        }
    }

    #[test]
    fn credentials_of_one_cluster_are_not_for_several() {
        for flag in [
            "--server=https://a",
            "--token=a",
            "--user=a",
            "--cluster=a",
            "--client-key=a",
            "--tls-server-name=a",
            "--insecure-skip-tls-verify",
        ] {
            let message = names(&["--context=dev,prod-us", flag]).unwrap_err();
            assert!(
                message.contains("several contexts") && message.contains(flag.split('=').next().unwrap()),
                "{message}"
            );
            assert_eq!(names(&["--context=*us", flag]), Ok(vec!["prod-us".to_owned()]), "one is not several");
        }
        assert!(names(&["--context=dev,prod-us", "--as=jane", "--namespace=shop"]).is_ok());
    }

    #[test]
    fn contexts_with_the_same_cluster_and_namespace_are_named() {
        let context = |name: &str, server: &str, namespace: &str| Context {
            name: name.to_owned(),
            server: Some(server.to_owned()),
            proxy: None,
            namespace: namespace.to_owned(),
        };
        let contexts = [context("a", "s", "x"), context("b", "s", "y"), context("c", "t", "x"), context("d", "s", "x")];
        let same = "these contexts are the same cluster and namespace: `a`";
        assert_eq!(same_targets(&contexts, None), [format!("{same}, `d`")]);
        assert_eq!(same_targets(&contexts, Some("z")), [format!("{same}, `b`, `d`")]);
        let unknown = Context { server: None, ..context("e", "", "x") };
        assert!(same_targets(&[unknown.clone(), unknown], None).is_empty());
    }
}
