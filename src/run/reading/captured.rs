//! `--live`: the objects of a file instead of a cluster.

use reconcile_core::live::Discovery;
use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::snapshot::Snapshot;
use reconcile_core::manifest::DesiredSet;
use reconcile_report::Failure;

use crate::cli::{ConnectOptions, InputArgs};
use crate::client::namespace_flag;
use crate::desired::files::Inputs;
use crate::run::contexts::ChosenContexts;
use crate::run::reading::named::of_words;

/// The objects of a file, and what they say about the kinds of the cluster that they are from.
pub(crate) struct Captured {
    /// The objects.
    pub snapshot: Snapshot,
    /// The built-in kinds, those of definitions in the file, and those of its objects.
    pub discovery: Discovery,
    /// The kinds of definitions in the file alone.
    pub defined: Discovery,
    /// The kinds of the objects alone.
    present: Discovery,
    /// The namespaces of a run over them.
    pub namespaces: Namespaces,
}

impl Captured {
    /// Reads a file that `snapshot` or `kubectl get -o yaml` wrote.
    pub fn read(file: &str, connection: &ConnectOptions) -> Result<Self, Failure> {
        let mut captured = Inputs::default();
        captured.path(file.as_ref(), false);
        let snapshot = Snapshot::read(&captured.finish()?)?;
        let required = namespace_flag(connection.namespace.as_deref()).map_err(Failure::invalid)?;
        let default = required.as_deref().or(snapshot.namespace()).unwrap_or("default").to_owned();
        let mut discovery = Discovery::builtin();
        let mut defined = Discovery::default();
        snapshot.definitions().for_each(|definition| defined.learn_defined(definition));
        snapshot.definitions().for_each(|definition| discovery.learn_defined(definition));
        snapshot.objects().for_each(|object| discovery.learn(object));
        let mut present = Discovery::default();
        snapshot.objects().for_each(|object| present.learn(object));
        Ok(Self { snapshot, discovery, defined, present, namespaces: Namespaces { required, default } })
    }

    /// The objects that words of the command line name, in the versions that the file has.
    pub fn named(&self, words: &[String]) -> Result<DesiredSet, Failure> {
        let present = self.present.clone().with_usual_names();
        let all = self.discovery.clone().with_usual_names();
        of_words(words, |text| if present.knows(text) { present.named(text) } else { all.named(text) })
    }
}

/// The contexts of a command that takes the objects of a file if `has_live` is set. The file replaces the cluster: flags that need one are
/// refused, and a kubeconfig that cannot be read is no error. `done` says what the command does with the objects.
pub(crate) fn contexts(
    has_live: bool,
    connection: &ConnectOptions,
    input: &InputArgs,
    done: &str,
) -> Result<ChosenContexts, Failure> {
    let contexts = ChosenContexts::of(connection);
    if !has_live {
        return contexts;
    }
    let contexts = contexts.unwrap_or_else(|_| ChosenContexts::one(connection));
    if contexts.are_several() {
        let message =
            format!("`--live` and several contexts cannot be combined: a snapshot is {done} without a cluster");
        return Err(Failure::refused(message, "leave `--context` out, or `--live`"));
    }
    if input.from.is_some() {
        let message = "`--from` reads the manifests from the cluster, and `--live` replaces the cluster";
        return Err(Failure::refused(message, "leave one of them out"));
    }
    Ok(contexts)
}
