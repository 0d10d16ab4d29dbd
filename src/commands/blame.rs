//! `blame`: read current, and show who owns each field.

use reconcile_report::Role;
use reconcile_report::blame::{BlamedObject, exit_code, json as as_json, text};
use serde_json::json;

use crate::cli::{BlameArgs, BlameFormat};
use crate::client::Cluster;
use crate::live::discover;
use crate::live::fetch::fetch;
use crate::live::types::Types;
use crate::session::audit_log::{AuditLogs, plural_names};
use crate::session::configured::{Configured, Settings};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::run::{Invocation, Run, cache_folder};
use crate::session::setup::connected_alone;
use crate::terminal::Terminal;
use reconcile_core::blame::Blame;
use reconcile_core::compare::Redactor;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::named::{NamedObject, named_objects};
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::live::{Discovery, LiveState, Resource, Target};
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{Hooks, Input, ReadOptions, read};
use reconcile_core::object::Selector;
use reconcile_core::rules::Glob;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &BlameArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let audit_logs = AuditLogs::open(&args.audit_logs, &args.connection)?;
    let output = &Output::of_text(terminal, &args.text, args.output == BlameFormat::Text);
    let (cluster, targets) = if args.reads_manifests() {
        of_manifests(args, configured, output).await?
    } else {
        of_words(args, output).await?
    };
    let references: Vec<&Target> = targets.iter().collect();
    let mut types = Types::new(cache_folder(&args.connection).as_deref());
    let resources = targets.iter().filter_map(|target| target.resource.as_ref().ok());
    let (states, ()) = futures::join!(fetch(&cluster, &references), types.load(&cluster, resources));
    let blaming = Blaming { args, types: &types, redactor: Redactor::default() };
    let mut objects = Vec::with_capacity(targets.len());
    for (target, state) in targets.iter().zip(states) {
        objects.push(blaming.object(target, state, terminal)?);
    }
    let plurals = plural_names(targets.iter());
    for warning in audit_logs.name_users(&mut objects, &plurals, &args.field_manager, cluster.stop()).await {
        terminal.note(Role::Note, &format!("warning: {warning}"));
    }
    let _ = match args.output {
        BlameFormat::Text => output.text(&text(&objects, &output.view)),
        BlameFormat::Json => terminal.data(&as_json(&objects)),
    };
    Ok(exit_code(&objects))
}

/// The objects of the manifests, in the order in which they are applied.
async fn of_manifests(
    args: &BlameArgs,
    configured: Configured,
    output: &Output,
) -> Result<(Cluster, Vec<Target>), Failure> {
    let settings = &Settings::of(configured?, output);
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let (run, desired) = invocation.begin("blame").await?;
    let targets = run.plan(desired, None)?.targets().cloned().collect();
    let Run { server, .. } = run;
    Ok((server.cluster, targets))
}

/// The objects that the command line names.
async fn of_words(args: &BlameArgs, output: &Output) -> Result<(Cluster, Vec<Target>), Failure> {
    let named = named_objects(&args.objects).map_err(Failure::invalid)?;
    let cluster = connected_alone(&args.connection, "blame", output).await?;
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

struct Blaming<'r> {
    args: &'r BlameArgs,
    types: &'r Types,
    redactor: Redactor,
}

impl Blaming<'_> {
    /// The fields of an object. One that cannot be read is an error in the result and on standard error.
    fn object(&self, target: &Target, state: LiveState, terminal: &Terminal) -> Result<BlamedObject, Failure> {
        let error = match state {
            LiveState::Present(live) => {
                let kind = target.kind();
                let blame = Blame {
                    gvk: &target.key.gvk,
                    kind: kind.as_ref(),
                    live: &live,
                    schema: self.types.of(&target.key.gvk),
                    manifest: self.args.reads_manifests().then(|| target.desired.object()),
                    with_status: self.args.status,
                };
                let managers: Vec<Glob> = self.args.managers.iter().map(|text| Glob::new(text)).collect();
                return Ok(BlamedObject::new(&target.key, Ok(blame.fields(&self.redactor)))
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
