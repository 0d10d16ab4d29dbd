//! `blame` in one context: the objects, their fields, and the managers of those.

use reconcile_report::blame::BlamedObject;
use reconcile_report::{Role, hooks_left_out};
use serde_json::json;

use crate::cli::{BlameArgs, ConnectionArgs};
use crate::client::Cluster;
use crate::config::Expectation;
use crate::engine::interrupt::Interrupt;
use crate::live::discover;
use crate::live::early::{Early, EarlySubject};
use crate::live::fetch::fetch;
use crate::live::types::Types;
use crate::session::audit_log::{AuditLogs, plural_names};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Reading;
use crate::session::run::{Invocation, cache_folder};
use crate::session::setup::connected;
use crate::terminal::Terminal;
use reconcile_core::blame::Blame;
use reconcile_core::compare::Redactor;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::named::{NamedObject, named_objects};
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::live::{Discovery, LiveState, Resource, Target};
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{DesiredSet, Hooks, Input, ReadOptions, read};
use reconcile_core::object::Selector;
use reconcile_core::rules::Glob;

/// The inputs of all contexts.
pub(crate) struct Blaming<'r> {
    /// The flags.
    pub args: &'r BlameArgs,
    /// The flags that choose the manifests, and the configuration; none for objects of the command line.
    pub manifests: Option<Invocation<'r>>,
    /// The manifests, unless the cluster keeps them.
    pub desired: Option<DesiredSet>,
    /// The logs that name users.
    pub audit_logs: AuditLogs,
    /// Ctrl-C.
    pub interrupt: Interrupt,
}

/// The objects of one context.
pub(crate) struct BlamedContext {
    /// The URL of its server.
    pub server: String,
    /// The objects.
    pub objects: Vec<BlamedObject>,
}

impl Blaming<'_> {
    /// The objects of one context, with the owners of their fields.
    pub async fn in_context(&self, connection: &ConnectionArgs, output: &Output) -> Result<BlamedContext, Failure> {
        let (cluster, targets) = match &self.manifests {
            Some(invocation) => self.of_manifests(invocation, connection, output).await?,
            None => self.of_words(connection, output).await?,
        };
        let terminal = &output.terminal;
        let references: Vec<&Target> = targets.iter().collect();
        let mut types = Types::new(cache_folder(connection).as_deref());
        let resources = targets.iter().filter_map(|target| target.resource.as_ref().ok());
        let ((), states) = futures::join!(types.load(&cluster, resources), fetch(&cluster, &references));
        let redactor = Redactor::default();
        let mut objects = Vec::with_capacity(targets.len());
        for (target, state) in targets.iter().zip(states) {
            objects.push(self.object(target, state, &types, &redactor, terminal)?);
        }
        let plurals = plural_names(targets.iter());
        let ours = &self.args.field_manager;
        for warning in self.audit_logs.name_users(&mut objects, &plurals, ours, cluster.stop()).await {
            terminal.note(Role::Note, &format!("warning: {warning}"));
        }
        Ok(BlamedContext { server: cluster.server().to_owned(), objects })
    }

    /// The objects of the manifests, in the order in which they are applied.
    async fn of_manifests(
        &self,
        invocation: &Invocation<'_>,
        connection: &ConnectionArgs,
        output: &Output,
    ) -> Result<(Cluster, Vec<Target>), Failure> {
        let allows_namespace = |namespace: &str| invocation.allows_namespace(namespace);
        let early = Early::new([EarlySubject::Objects], &allows_namespace);
        let connecting = invocation.join(connection, output, self.interrupt.clone(), None, &early);
        let reading = async {
            if let Some(desired) = &self.desired {
                early.begin(desired).await;
            }
        };
        let (run, ()) = Box::pin(async { futures::join!(connecting, reading) }).await;
        let run = run?;
        let desired = match &self.desired {
            Some(desired) => desired.clone(),
            None => Reading::stored(invocation.input, &run.server, &output.terminal).await?.desired().await?,
        };
        run.complete(&early, &desired);
        if let Some(left_out) = hooks_left_out(desired.hooks_left_out()) {
            output.terminal.note(Role::Note, &left_out);
        }
        let targets = run.plan(desired, None)?.targets().cloned().collect();
        Ok((run.server.cluster, targets))
    }

    /// The objects that the command line names.
    async fn of_words(&self, connection: &ConnectionArgs, output: &Output) -> Result<(Cluster, Vec<Target>), Failure> {
        let named = named_objects(&self.args.objects).map_err(Failure::invalid)?;
        let cluster = connected(connection, output, true, &self.interrupt, &Expectation::default()).await?;
        let discovery = discover(&cluster).await?;
        let namespaces = Namespaces { required: None, default: cluster.default_namespace().to_owned() };
        let (mut inputs, mut unknown) = (Vec::new(), Vec::new());
        for object in &named {
            match discovery.named(&object.resource) {
                Ok(resource) => inputs.push(input(object, resource)),
                Err(diagnostic) => unknown.push(diagnostic),
            }
        }
        if !unknown.is_empty() {
            return Err(unknown.into());
        }
        Ok((cluster, targets(&inputs, &discovery, &namespaces)?))
    }

    /// The fields of an object. One that cannot be read is an error in the result and on standard error.
    fn object(
        &self,
        target: &Target,
        state: LiveState,
        types: &Types,
        redactor: &Redactor,
        terminal: &Terminal,
    ) -> Result<BlamedObject, Failure> {
        let error = match state {
            LiveState::Present(live) => {
                let kind = target.kind();
                let blame = Blame {
                    gvk: &target.key.gvk,
                    kind: kind.as_ref(),
                    live: &live,
                    schema: types.of(&target.key.gvk),
                    manifest: self.args.reads_manifests().then(|| target.desired.object()),
                    with_status: self.args.status,
                };
                let managers: Vec<Glob> = self.args.managers.iter().map(|text| Glob::new(text)).collect();
                return Ok(BlamedObject::new(&target.key, Ok(blame.fields(redactor)))
                    .of_managers(&managers)
                    .with_times(&live, &self.args.field_manager));
            }
            LiveState::Absent => Diagnostic::new(Code::NotFound, "it does not exist"),
            LiveState::Unreadable(diagnostic) if diagnostic.code == Code::Interrupted => {
                return Err(Failure::interrupted("the run was interrupted"));
            }
            LiveState::Unreadable(diagnostic) => diagnostic,
        };
        terminal.note(Role::Error, &format!("error: {}: {}", target.key, error.message));
        if let Some(hint) = &error.hint {
            terminal.note(Role::Hint, &format!("  hint: {hint}"));
        }
        Ok(BlamedObject::new(&target.key, Err(&error)))
    }
}

/// An object as the input of a manifest with nothing but its name.
fn input(object: &NamedObject, resource: &Resource) -> Input {
    let NamedObject { resource: typed, name } = object;
    let manifest =
        json!({"apiVersion": resource.gvk.api_version(), "kind": resource.gvk.kind, "metadata": {"name": name}});
    Input { name: format!("{typed}/{name}").into(), text: manifest.to_string().into_bytes().into() }
}

fn targets(inputs: &[Input], discovery: &Discovery, namespaces: &Namespaces) -> Result<Vec<Target>, Failure> {
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        allow_empty: true,
        hooks: Hooks::Include,
    };
    Ok(resolve(read(inputs, &options)?.manifests, discovery, namespaces)?)
}
