//! The run of a command in one context, and the flags of the command.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::path::PathBuf;
use std::rc::Rc;

use apply_set::ApplySet;
use reconcile_core::compare::Policy;
use reconcile_core::live::Target;
use reconcile_core::live::resolve::{Namespaces, key_of};
use reconcile_core::manifest::{BaseObject, DesiredSet};
use reconcile_core::plan::Plan;
use reconcile_core::upgrade::HELM;
use reconcile_report::{ClusterInfo, Failure, Report};
use structured_merge::ObjectKey;

use crate::cli::{CompareArgs, ConnectOptions, FromSource, InputArgs};
use crate::client::{Cluster, Environment, NO_CLUSTER};
use crate::engine::comparison::Comparison;
use crate::engine::event::EventSink;
use crate::engine::interrupt::Interrupt;
use crate::engine::namespaces::missing_namespaces;
use crate::live::discover;
use crate::live::discovery::Server;
use crate::live::early::{Early, EarlySubject};
use crate::live::types::Types;
use crate::output::Output;
use crate::run::agreement::Participant;
use crate::run::base::Base;
use crate::run::connection::{cluster_info, cluster_uid, connected, server_version};
use crate::run::contexts::ChosenContexts;
use crate::run::interrupt::listen;
use crate::run::reading::named::of_words;
use crate::run::reading::stored::{excluded, restoring};
use crate::run::reading::{Manifests, Reading, while_connecting};
use crate::run::settings::Settings;
use crate::run::setup::{Resolved, RestOfBase, autoscalers, resolved};

/// The flags that all commands with manifests have, the output, and the configuration.
#[derive(Clone, Copy)]
pub(crate) struct Invocation<'a> {
    /// The flags for the connection.
    pub connection: &'a ConnectOptions,
    /// The flags for the manifests.
    pub input: &'a InputArgs,
    /// The reports and the terminal.
    pub output: &'a Output,
    /// The configuration.
    pub settings: &'a Settings,
    /// The objects that the command line names instead of manifests, as `TYPE/NAME…` or `TYPE NAME…`.
    pub objects: &'a [String],
    /// True if the command has `--live`, as a hint says where there is no cluster.
    pub has_live: bool,
    /// The manifests that were applied last, for commands that compare with it.
    pub base: Option<&'a Base>,
    /// True if the command restores a release of Helm.
    pub restores: bool,
}

/// The run of a command in one context, connected to its server.
pub(crate) struct Run<'a> {
    /// The server.
    pub server: Server,
    /// The server, as reports name it.
    pub info: ClusterInfo,
    /// The output of this context.
    pub output: &'a Output,
    /// The configuration.
    pub settings: &'a Settings,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// The manifests that were applied last.
    pub base: Option<&'a Base>,
    /// True if a release of Helm is restored.
    pub restores: bool,
    /// The parts of the base and of the input that are not compared.
    pub(super) rest_of_base: RefCell<Rc<RestOfBase>>,
    /// The folder for what is kept between runs.
    cache: Option<PathBuf>,
    /// The types of custom kinds for the first comparison, of which some are being loaded.
    types: Cell<Types>,
    /// Its turn in the question that all contexts ask together.
    participant: Option<Participant<'a>>,
}

/// The context in which a run begins.
pub(crate) struct RunContext<'c, 'a> {
    /// The flags for its connection.
    pub connection: &'c ConnectOptions,
    /// Its output.
    pub output: &'a Output,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// Its turn in the question that all contexts ask together.
    pub participant: Option<Participant<'a>>,
}

impl<'a> Invocation<'a> {
    /// A command whose manifests the flags select.
    pub fn new(
        connection: &'a ConnectOptions,
        input: &'a InputArgs,
        output: &'a Output,
        settings: &'a Settings,
    ) -> Self {
        Self { connection, input, output, settings, objects: &[], has_live: false, base: None, restores: false }
    }

    /// Returns true if only the cluster says what the objects are: it keeps their manifests, or knows the types of their names.
    fn needs_cluster(&self) -> bool {
        self.input.from.is_some() || !self.objects.is_empty()
    }

    /// Begins the run of a command that takes a single context and writes no report: reads the manifests and connects at the same time,
    /// and reads `early` what it needs. Says on stderr how many hooks are left out.
    pub async fn begin(&self, command: &str, early: Vec<EarlySubject>) -> Result<(Run<'a>, DesiredSet), Failure> {
        let contexts = ChosenContexts::of(self.connection)?;
        let connection = contexts.only(command)?;
        let manifests = self.begin_reading().await?;
        let interrupt = listen(&self.output.terminal);
        let context = RunContext { connection, output: self.output, interrupt, participant: None };
        let (run, desired) = self.begin_in(context, manifests, early).await?;
        self.output.remark_on(&desired);
        Ok((run, desired))
    }

    /// Begins the run in one context: connects while the manifests are read, and reads some of what it needs while discovery is under way.
    pub async fn begin_in(
        &self,
        context: RunContext<'_, 'a>,
        manifests: Manifests,
        reads: Vec<EarlySubject>,
    ) -> Result<(Run<'a>, DesiredSet), Failure> {
        let allows_namespace = |namespace: &str| self.allows_namespace(namespace);
        let kinds = match &manifests {
            Manifests::Reading(reading) => reading.kinds,
            Manifests::Read(_) | Manifests::OfCluster => 0,
        };
        let early = Early::new(reads, &allows_namespace, kinds);
        let terminal = &context.output.terminal;
        let connecting = self.join(context, &early);
        let (run, desired) = match manifests {
            Manifests::Reading(reading) => Box::pin(while_connecting(reading.desired(), &early, connecting)).await?,
            Manifests::Read(desired) => Box::pin(while_connecting(ready(Ok(desired)), &early, connecting)).await?,
            Manifests::OfCluster => {
                let run = Box::pin(connecting).await?;
                let desired = match self.objects {
                    [] => {
                        let reading = Reading::stored(self.input, &run.server, self.restores, terminal);
                        Box::pin(reading).await?.desired().await?
                    }
                    words => of_words(words, |text| run.server.discovery.named(text))?,
                };
                (run, desired)
            }
        };
        run.complete(&early, &desired);
        Ok((run, desired))
    }

    /// Begins to read the manifests, unless the cluster keeps them.
    pub async fn begin_reading(&self) -> Result<Manifests, Failure> {
        excluded(self.input)?;
        if self.needs_cluster() {
            return Ok(Manifests::OfCluster);
        }
        let _progress = self.output.terminal.progress("reading", 0);
        Ok(Manifests::Reading(Reading::begin(self.input, &self.output.terminal).await?))
    }

    /// The manifests, before anything is connected; `None` if each cluster has its own.
    pub async fn desired(&self) -> Result<Option<DesiredSet>, Failure> {
        excluded(self.input)?;
        if self.needs_cluster() {
            return Ok(None);
        }
        Ok(Some(Reading::begin(self.input, &self.output.terminal).await?.desired().await?))
    }

    /// Returns true if the configuration allows objects in this namespace.
    fn allows_namespace(&self, namespace: &str) -> bool {
        self.settings.configuration.expect.refusal_of_namespace(namespace).is_none()
    }

    /// Connects one run. Discovery, the version and the `early` reads are requested at once.
    async fn join(&self, context: RunContext<'_, 'a>, early: &Early<'_>) -> Result<Run<'a>, Failure> {
        let RunContext { connection, output, interrupt, participant } = context;
        let connected =
            connected(connection, output, !self.input.reads_stdin(), &interrupt, &self.settings.configuration.expect)
                .await;
        // With a release, `--namespace` chooses the release, and its objects are where its manifest says.
        let is_of_release = matches!(self.input.from, Some(FromSource::Helm { .. } | FromSource::Releases));
        let connected = connected.map(|cluster| {
            let Namespaces { required, default } = namespaces(&cluster, connection);
            (Namespaces { required: required.filter(|_| !is_of_release), default }, cluster)
        });
        let connected = connected.map_err(|failure| if self.has_live { or_offline(failure) } else { failure });
        early.connected(connected.as_ref().ok().map(|(namespaces, cluster)| (cluster, namespaces)));
        let (namespaces, cluster) = connected?;
        let discovery = async {
            let discovery = discover(&cluster).await;
            early.discovered(&cluster, discovery.as_ref().ok());
            discovery
        };
        let uid = async { if self.output.identifies_cluster { cluster_uid(&cluster).await } else { None } };
        let (discovery, version, uid) = futures::join!(discovery, server_version(&cluster), uid);
        let info = ClusterInfo { uid, ..cluster_info(&cluster, version.ok().flatten()) };
        let discovery = discovery.map_err(|error| Failure::unanswered(cluster.server(), &error))?;
        let server = Server { cluster, discovery, namespaces };
        let cache = cache_folder(connection);
        let types = Types::new(cache.as_deref()).into();
        Ok(Run {
            server,
            info,
            output,
            settings: self.settings,
            interrupt,
            base: self.base,
            restores: self.restores,
            rest_of_base: RefCell::default(),
            cache,
            types,
            participant,
        })
    }
}

/// The namespaces of a run over this connection.
fn namespaces(cluster: &Cluster, connection: &ConnectOptions) -> Namespaces {
    let default = cluster.default_namespace().to_owned();
    let required = connection.namespace.as_ref().filter(|name| !name.is_empty()).map(|_| default.clone());
    Namespaces { required, default }
}

/// A failure to connect, with `--live` in its hint if no cluster is configured.
fn or_offline(mut failure: Failure) -> Failure {
    for diagnostic in failure.diagnostics.iter_mut().filter(|diagnostic| diagnostic.message == NO_CLUSTER) {
        let hint = diagnostic.hint.take().unwrap_or_default();
        diagnostic.hint = Some(format!("{hint}, or use the objects of a file with `--live FILE`"));
    }
    failure
}

/// The folder for what is kept between runs, which `KUBECACHEDIR` moves as it does for kubectl.
pub(crate) fn cache_folder(connection: &ConnectOptions) -> Option<PathBuf> {
    let usual = || Environment::from_process().cache_folder();
    connection.cache_dir.clone().or_else(usual)
}

impl Run<'_> {
    /// Sends the early reads of kinds that only discovery knows.
    fn complete(&self, early: &Early<'_>, desired: &DesiredSet) {
        let mut types = self.types.take();
        early.complete(desired, &self.server.discovery, &mut types);
        self.types.set(types);
    }

    /// Resolves the manifests, makes them members of the apply set, and orders them.
    pub fn plan(&self, desired: DesiredSet, set: Option<&ApplySet>) -> Result<Plan, Failure> {
        Ok(Plan::of(self.resolved(desired, set)?.targets)?)
    }

    /// Orders the objects, and with them the missing Namespaces if they are to be created. These join no apply set: a later run, which finds them, would prune
    /// them.
    pub async fn plan_with(
        &self,
        args: &CompareArgs,
        desired: DesiredSet,
        set: Option<&ApplySet>,
    ) -> Result<Plan, Failure> {
        let Resolved { mut targets, rest } = self.resolved(desired, set)?;
        let is_of_helm = self.restores || args.evidence.field_manager == HELM;
        for Target { desired, .. } in targets.iter_mut().filter(|_| is_of_helm) {
            let release = desired.origin.record.as_ref().and_then(|record| record.release());
            if let Some(release) = &release {
                desired.join_release(release);
            }
        }
        self.rest_of_base.replace(rest.into());
        if args.writing.create_namespace {
            let required = self.server.namespaces.required.as_deref();
            let others = required.into_iter().chain(set.and_then(|set| set.parent.namespace.as_deref()));
            let missing = missing_namespaces(&self.server, &targets, others).await;
            let expect = &self.settings.configuration.expect;
            let refused: Vec<_> =
                missing.iter().filter_map(|missing| expect.refusal_of_namespace(&missing.key.name)).collect();
            if !refused.is_empty() {
                return Err(refused.into());
            }
            if self.base.is_some() {
                for missing in &missing {
                    let _ = missing.base.set(BaseObject::Absent);
                }
            }
            targets.extend(missing);
        }
        Ok(Plan::of(targets)?)
    }

    fn resolved(&self, desired: DesiredSet, set: Option<&ApplySet>) -> Result<Resolved, Failure> {
        let Server { discovery, namespaces, .. } = &self.server;
        let expect = &self.settings.configuration.expect;
        resolved(desired, discovery.clone(), namespaces, set, expect, self.base)
    }

    /// A comparison that has not begun. Autoscalers are found for the whole `plan`, even if it compares only a shard.
    pub fn comparison<'r>(
        &'r self,
        args: &CompareArgs,
        policy: &'r Policy,
        plan: &Plan,
        events: &'r dyn EventSink,
    ) -> Comparison<'r> {
        let Self { server, interrupt, settings, types, .. } = self;
        let types = types.replace(Types::new(self.cache.as_deref()));
        let mut comparison = Comparison::new(server, policy, types, interrupt.clone(), events);
        comparison.releases_are_base = self.base.is_some_and(Base::is_of_releases);
        comparison.only_in_base = Rc::clone(&self.rest_of_base.borrow().dropped);
        comparison.respecting(autoscalers(args, &server.discovery, plan)).with_readiness(&settings.readiness)
    }

    /// The policy of the run: that of the flags, or the one by which a release is restored, which is also how Helm itself compares it.
    pub fn policy<'p>(&self, policy: &'p Policy, desired: &DesiredSet) -> Cow<'p, Policy> {
        match &desired.releases {
            Some(releases) if self.restores || policy.manager == HELM => Cow::Owned(restoring(policy, releases)),
            _ => Cow::Borrowed(policy),
        }
    }

    /// Asks for confirmation of the changes in the report, once for all contexts, after all of them were compared.
    pub async fn confirmed(&self, report: &Report) -> bool {
        match &self.participant {
            Some(participant) => participant.confirmed(report, &self.output.view, &self.info).await,
            None => false,
        }
    }

    /// Lets the common question of several contexts go on without this one.
    pub fn asks_nothing(&self) {
        if let Some(participant) = &self.participant {
            participant.asks_nothing();
        }
    }

    /// The identities of the hooks that are left out.
    pub fn hooks(&self, desired: &DesiredSet) -> Vec<ObjectKey> {
        let Server { discovery, namespaces, .. } = &self.server;
        desired.hooks.iter().map(|hook| key_of(hook, discovery, namespaces)).collect()
    }

    /// The report of the run, with its server, the number of hooks that were left out, and whether it was interrupted.
    pub(super) fn concluded(&self, report: Report, hooks: usize) -> Report {
        let cluster = &self.server.cluster;
        let mut report = report.with_server_warnings(&cluster.warned_of_changes(), cluster.warned_of_reads());
        report.summary.hooks = hooks;
        let cluster = report.cluster.or_else(|| Some(self.info.clone()));
        let report = Report { cluster, requests: self.server.cluster.counts(), ..report };
        let report = match self.base {
            Some(base) => base.named_in(report),
            None => report,
        };
        if self.interrupt.is_set() { report.interrupted() } else { report }
    }
}
