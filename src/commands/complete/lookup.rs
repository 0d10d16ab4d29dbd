//! Values for completion that only the kubeconfig or the cluster knows. Nothing here is an error: values that cannot be read in
//! time are not offered.

use std::collections::BTreeSet;
use std::time::Duration;

use apply_set::ID;
use clap::Command;
use futures::future::join_all;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ObjectList, PartialObjectMeta};

use super::candidates::{Known, Source};
use reconcile_core::compare::FIELD_MANAGER;

use crate::client::{
    Address, Cluster, ConnectOptions, Contexts, Environment, Log, Request, RequestTimeout, config_names, connect,
};
use crate::live::{discover, parse};
use crate::run::connection::connect_options;
use crate::terminal::{ColorChoice, Terminal};

/// The time that the cluster has to answer.
const PATIENCE: Duration = Duration::from_millis(1500);
/// The largest number of objects to read from a list.
const MOST: &str = "500";
/// Reads names and field managers alone: no value of any object.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// The resources whose managers are offered.
const MANAGED: [(&[&str], &str); 5] = [
    (&["apis", "apps", "v1"], "deployments"),
    (&["apis", "apps", "v1"], "statefulsets"),
    (&["apis", "apps", "v1"], "daemonsets"),
    (&["api", "v1"], "services"),
    (&["api", "v1"], "configmaps"),
];
/// The records of releases that Helm has deployed.
const DEPLOYED: &str = "owner=helm,status=deployed";
/// The managers that are adopted most often. They are offered even if the cluster has none of their objects.
const ADOPTED: [&str; 5] = ["argocd-controller", "helm", "helm-controller", "kubectl", "kustomize-controller"];

/// Looks up the values of some sources, for the last of these words.
pub(crate) async fn looked_up(
    program: &Command,
    sources: &BTreeSet<Source>,
    connection: Option<ConnectOptions>,
    words: &[String],
) -> Known {
    let mut known = Known::new();
    let environment = Environment::from_process();
    let connection = connection.as_ref();
    let kubeconfig = connection.and_then(|args| args.kubeconfig.as_deref());
    let names = || config_names(kubeconfig, &environment).unwrap_or_default();
    for source in sources {
        let values = match source {
            Source::Contexts => names().contexts,
            Source::Clusters => names().clusters,
            Source::Users => names().users,
            Source::Commands => commands(program, words).unwrap_or_default(),
            Source::Durations => ["30s", "1m", "5m", "10m", "30m"].map(ToOwned::to_owned).to_vec(),
            Source::Namespaces | Source::ApplySets | Source::Managers | Source::Appliers | Source::Stored => {
                let asked = async { asked(*source, connection?, &environment).await };
                let found = tokio::time::timeout(PATIENCE, asked).await.ok().flatten();
                with_offline(*source, found, || namespaces_of_contexts(connection, &environment))
            }
            Source::Objects | Source::Types => {
                let words = if *source == Source::Types { &[] } else { words };
                let found = async { objects(words, connection?, &environment).await };
                tokio::time::timeout(PATIENCE, found).await.ok().flatten().unwrap_or_default()
            }
            Source::Files | Source::Folders | Source::Free => continue,
        };
        known.insert(*source, values);
    }
    known
}

/// The commands below those that `man` has before the last word; `None` if there is no such command.
fn commands(program: &Command, words: &[String]) -> Option<Vec<String>> {
    let (_, before) = words.split_last()?;
    let mut command = program;
    // Only `--dir` has a value that is a word of its own.
    let is_name = |[former, word]: &[String; 2]| !word.starts_with('-') && former != "--dir";
    for [_, name] in before.array_windows().filter(|pair| is_name(pair)) {
        command = shown(command).find(|command| command.get_name() == name)?;
    }
    Some(shown(command).map(|command| command.get_name().to_owned()).collect())
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// The values from the cluster, and those that are known without it.
fn with_offline(source: Source, found: Option<BTreeSet<String>>, namespaces: impl Fn() -> Vec<String>) -> Vec<String> {
    let offline: Vec<String> = match source {
        Source::Namespaces if found.is_none() => namespaces(),
        Source::Managers => ADOPTED.map(ToOwned::to_owned).to_vec(),
        Source::Appliers => vec![FIELD_MANAGER.to_owned()],
        Source::Stored => ["helm", "helm/", "last-applied"].map(ToOwned::to_owned).to_vec(),
        _ => Vec::new(),
    };
    let mut all = found.unwrap_or_default();
    all.extend(offline);
    if source == Source::Appliers {
        // `kubectl` is refused as a field manager: the API server treats it in its own way.
        all.remove("kubectl");
    }
    all.into_iter().collect()
}

fn namespaces_of_contexts(connection: Option<&ConnectOptions>, environment: &Environment) -> Vec<String> {
    let kubeconfig = connection.and_then(|args| args.kubeconfig.as_deref());
    let contexts = Contexts::load(kubeconfig, environment).unwrap_or_default();
    contexts.all().iter().map(|context| context.namespace.clone()).collect()
}

/// Asks the cluster.
async fn asked(source: Source, args: &ConnectOptions, environment: &Environment) -> Option<BTreeSet<String>> {
    let options = options(args)?;
    let cluster = connect(&options, environment).await.ok()?;
    let namespace = cluster.default_namespace();
    let in_namespace = |prefix: &[&'static str], resource: &'static str| {
        Address::new(prefix.iter().copied()).join("namespaces").join(namespace.to_owned()).join(resource)
    };
    let labelled = async |selector: &str| {
        let objects = |resource| in_namespace(&["api", "v1"], resource).with("labelSelector", selector);
        futures::join!(list(&cluster, objects("secrets")), list(&cluster, objects("configmaps")))
    };
    match source {
        Source::Namespaces => {
            let items = list(&cluster, Address::new(["api", "v1", "namespaces"])).await?;
            Some(items.into_iter().filter_map(|item| item.name).collect())
        }
        Source::ApplySets => {
            let (secrets, maps) = labelled(ID).await;
            let secrets = secrets.into_iter().flatten().filter_map(|item| item.name);
            let maps = maps.into_iter().flatten().filter_map(|item| Some(format!("configmap/{}", item.name?)));
            Some(secrets.chain(maps).collect())
        }
        Source::Stored => {
            let (secrets, maps) = labelled(DEPLOYED).await;
            let records = secrets.into_iter().chain(maps).flatten();
            Some(records.filter_map(|record| release_of(&record.name?)).collect())
        }
        _ => {
            let lists = MANAGED.map(|(prefix, resource)| list(&cluster, in_namespace(prefix, resource)));
            let items = join_all(lists).await.into_iter().flatten().flatten();
            let entries = items.filter_map(|item| item.managed_fields).flatten();
            let wanted =
                entries.filter(|entry| source == Source::Managers || entry.operation.as_deref() == Some("Apply"));
            Some(wanted.filter_map(|entry| entry.manager).filter(|name| !name.is_empty()).collect())
        }
    }
}

/// Types, or the names of the objects of the type that was typed: `TYPE/NAME`, or `NAME` behind `TYPE`.
async fn objects(words: &[String], args: &ConnectOptions, environment: &Environment) -> Option<Vec<String>> {
    let (word, before) = words.split_last().map_or(("", &[][..]), |(word, before)| (word.as_str(), before));
    // Flags take several objects, and may stand before the first one.
    let word = word.rsplit([',', '=']).next().unwrap_or_default();
    let cluster = connect(&options(args)?, environment).await.ok()?;
    let discovery = discover(&cluster).await.ok()?;
    let (typed, prefix) = match word.split_once('/') {
        Some((typed, _)) => (Some(typed), format!("{typed}/")),
        None => (before.last().map(String::as_str), String::new()),
    };
    match typed.and_then(|typed| discovery.named(typed).ok()) {
        Some(resource) => {
            let items = list(&cluster, resource.collection_path(Some(cluster.default_namespace()))).await?;
            Some(items.into_iter().filter_map(|item| Some(format!("{prefix}{}", item.name?))).collect())
        }
        None if !prefix.is_empty() => None,
        None => Some(discovery.resources().map(|resource| resource.plural.clone()).collect()),
    }
}

/// The release whose record has a name, as `--from` takes it: `helm/web` for `sh.helm.release.v1.web.v3`.
fn release_of(record: &str) -> Option<String> {
    let (release, _) = record.strip_prefix("sh.helm.release.v1.")?.rsplit_once(".v")?;
    Some(format!("helm/{release}"))
}

/// The connection to one cluster: of several contexts the first one, and none of a pattern.
fn options(args: &ConnectOptions) -> Option<ConnectOptions> {
    let context = match args.context.as_deref() {
        Some(text) if text.contains('*') => return None,
        Some(text) => text.split(',').next().map(ToOwned::to_owned),
        None => None,
    };
    let args = ConnectOptions { context, request_timeout: RequestTimeout::Within(PATIENCE), ..args.clone() };
    let silent = Terminal::new(ColorChoice::Never, true);
    Some(ConnectOptions { log: Log::default(), ..connect_options(&args, 0, false, &silent) })
}

/// The metadata of the objects in a list.
async fn list(cluster: &Cluster, address: Address) -> Option<Vec<ObjectMeta>> {
    let request = Request::list(address.with("limit", MOST)).with_accept(METADATA);
    let reply = cluster.send(request).await.ok()?;
    let list: ObjectList<PartialObjectMeta> = parse(cluster, reply.body()).ok()?;
    Some(list.items.into_iter().map(|object| object.metadata).collect())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn man_offers_the_commands_below_those_before() {
        let program = Cli::command();
        let offered = |words: &[&str]| {
            commands(&program, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap_or_default()
        };
        assert!(offered(&["man", ""]).contains(&"config".to_owned()));
        assert_eq!(offered(&["man", "config", ""]), ["view", "schema"]);
        assert_eq!(offered(&["man", "report", ""]), ["merge"]);
        assert!(offered(&["man", "diff", ""]).is_empty() && offered(&["man", "dif", ""]).is_empty());
    }

    #[test]
    fn names_known_without_a_cluster_are_offered_as_well() {
        let namespaces = || vec!["shop".to_owned()];
        let offered = |source, found: Option<&[&str]>| {
            let found = found.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            with_offline(source, found, namespaces)
        };
        assert_eq!(offered(Source::Namespaces, None), ["shop"]);
        assert_eq!(offered(Source::Namespaces, Some(&["default"])), ["default"]);
        assert!(offered(Source::Managers, Some(&["hand"])).contains(&"hand".to_owned()));
        assert!(offered(Source::Managers, None).contains(&"helm".to_owned()));
        assert_eq!(offered(Source::Appliers, Some(&["kubectl", "ci"])), ["ci", "kubectl-reconcile"]);
        assert_eq!(offered(Source::Stored, Some(&["helm/web"])), ["helm", "helm/", "helm/web", "last-applied"]);
        assert_eq!(release_of("sh.helm.release.v1.web.v2.v13").as_deref(), Some("helm/web.v2"));
        assert_eq!(release_of("login"), None);
    }
}
