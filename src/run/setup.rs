//! Turns flags into settings of the stages: the connection, the plan, and which fields to take from other managers.

use std::rc::Rc;
use std::sync::Arc;

use apply_set::{ApplySet, ParentReference};
use reconcile_core::compare::{Chosen, EvidenceMode, ForceConflicts, Policy, RemoveAdded, Replace, UnnamedSet};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::live::{Discovery, Target};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::object::Shard;
use reconcile_core::plan::Plan;
use reconcile_core::rules::{Autoscalers, Glob};
use reconcile_report::{FailClass, Failure, Verdict};

use crate::cli::{
    AutoscalerChoice, CompareArgs, EvidenceChoice, ForceChoice, InputArgs, PruneArgs, ReplaceChoice, ShardArgs,
};
use crate::config::Expectation;
use crate::engine::prune::{ApplySetError, Limits, Requested};
use crate::live::autoscalers::AutoscalerSource;
use crate::live::early::EarlySubject;
use crate::run::base::Base;
use crate::run::settings::Settings;

/// The reads with which a comparison begins, and `others`. A run over one shard reads a part of the objects, which is not known before
/// discovery.
pub(crate) fn early_reads(
    args: &CompareArgs,
    shard: ShardArgs,
    others: impl IntoIterator<Item = EarlySubject>,
) -> Vec<EarlySubject> {
    if shard.shard.is_some() {
        return Vec::new();
    }
    let autoscalers = (args.evidence.autoscalers == AutoscalerChoice::Respect).then_some(EarlySubject::Autoscalers);
    [EarlySubject::Objects, EarlySubject::Types].into_iter().chain(autoscalers).chain(others).collect()
}

/// The source of the autoscalers of a run; `None` if their changes count as drift.
pub(crate) fn autoscalers(args: &CompareArgs, discovery: &Discovery, plan: &Plan) -> Option<AutoscalerSource> {
    (args.evidence.autoscalers == AutoscalerChoice::Respect).then(|| AutoscalerSource::new(discovery, plan.targets()))
}

/// The manifests with their resources.
pub(crate) struct Resolved {
    /// The objects of the manifests that are compared.
    pub targets: Vec<Target>,
    /// The parts of the base and of the input that are not compared.
    pub rest: RestOfBase,
}

/// The parts of the base and of the input that are not compared.
#[derive(Default)]
pub(crate) struct RestOfBase {
    /// The objects that only the base has.
    pub dropped: Rc<[Target]>,
    /// The number of objects whose manifests are those of the base, with `--changed-only`.
    pub unchanged: Option<usize>,
}

/// Resolves the manifests, with the kinds that the input itself defines, and makes them members of the apply set. Objects in namespaces
/// that are not expected are errors.
pub(crate) fn resolved(
    desired: DesiredSet,
    mut discovery: Discovery,
    namespaces: &Namespaces,
    set: Option<&ApplySet>,
    expect: &Expectation,
    base: Option<&Base>,
) -> Result<Resolved, Failure> {
    let definitions = desired.manifests.iter().filter(|manifest| manifest.gvk().is_crd());
    for manifest in definitions.chain(base.into_iter().flat_map(Base::definitions)) {
        discovery.expect(manifest.object());
    }
    let mut targets = resolve(desired.manifests, &discovery, namespaces)?;
    expect.allows_targets(&targets)?;
    let dropped = base.map_or(Ok(Vec::new()), |base| base.give_to(&mut targets, &discovery, namespaces))?;
    let unchanged = base.and_then(|base| base.leave_out(&mut targets));
    for Target { key, desired, .. } in &mut targets {
        let namespace = key.namespace.as_deref().unwrap_or(&namespaces.default);
        if let Some(set) = set.filter(|set| !set.is_parent(&key.gvk, namespace, &key.name)) {
            desired.join_apply_set(&set.id);
        }
    }
    Ok(Resolved { targets, rest: RestOfBase { dropped: dropped.into(), unchanged } })
}

/// The field manager, and which fields to take from other managers.
pub(crate) fn policy(args: &CompareArgs, settings: &Settings) -> Result<Policy, Failure> {
    let manual_managers = settings.configuration.manual_managers.clone();
    let ignore = settings.ignore.clone();
    let manager = args.evidence.field_manager.clone();
    if manager.is_empty() || manager.len() > 128 || manager.chars().any(|c| !c.is_ascii_graphic() && c != ' ') {
        let message = "`--field-manager` takes 1 to 128 printable characters";
        return Err(Failure::invalid(Diagnostic::general(message)));
    }
    if manager == "kubectl" {
        let message = "`--field-manager=kubectl` would share the fields of `kubectl apply --server-side`";
        let hint = "the API server treats this name specially: choose another";
        return Err(Failure::invalid(Diagnostic::general(message).with_hint(hint)));
    }
    if args.no_effects && args.fail_on.contains(&FailClass::Restart) {
        let message = "`--fail-on restart` and `--no-effects` cannot be combined: restarts are effects";
        return Err(Failure::refused(message, "leave one of them out"));
    }
    let force = match args.writing.force_conflicts {
        ForceChoice::Manual => ForceConflicts::Manual,
        ForceChoice::All => ForceConflicts::All,
        ForceChoice::None => ForceConflicts::None,
    };
    let evidence = match args.evidence.evidence {
        EvidenceChoice::Auto => EvidenceMode::Auto,
        EvidenceChoice::Server => EvidenceMode::Server,
        EvidenceChoice::ReadOnly => EvidenceMode::ReadOnly,
    };
    let replace = match args.writing.replace {
        ReplaceChoice::Never => Replace::Never,
        ReplaceChoice::Immutable => Replace::Immutable,
    };
    let unnamed_set = if args.leave_applyset { UnnamedSet::Leave } else { UnnamedSet::Stay };
    let adopt = args.adopt.iter().cloned().collect();
    let show_unmanaged = args.show_unmanaged || args.fail_on.iter().any(FailClass::needs_unmanaged);
    let autoscalers = Arc::new(Autoscalers::with_people(&manual_managers));
    Ok(Policy {
        force,
        show_unmanaged,
        evidence,
        manual_managers,
        adopt,
        replace,
        unnamed_set,
        remove_added: remove_added(args.remove_added.as_deref()),
        only: chosen(&args.only).map(Arc::new),
        ignore,
        autoscalers,
        ..Policy::of(&manager)
    })
}

/// The managers whose additions the run takes out.
fn remove_added(names: Option<&[String]>) -> RemoveAdded {
    match names {
        None => RemoveAdded::Never,
        Some([]) => RemoveAdded::Manual,
        Some(names) => RemoveAdded::Of(names.iter().map(|name| Glob::new(name)).collect()),
    }
}

/// The differences that the run resolves; `None` for all of them.
fn chosen(only: &[FailClass]) -> Option<Chosen> {
    let mut chosen = Chosen::default();
    for class in only {
        match *class {
            FailClass::Drift => chosen.drift = true,
            FailClass::Manual => chosen.manual = true,
            FailClass::Replace => chosen.replace = true,
            FailClass::Of(class) => _ = chosen.classes.insert(class),
            FailClass::From(side) => _ = chosen.sides.insert(side),
            // These are no differences of the manifests' objects.
            FailClass::Restart | FailClass::Warnings | FailClass::UnmanagedObjects => {}
        }
    }
    (!only.is_empty()).then_some(chosen)
}

/// The apply set that the flags name, if they do. Nothing is deleted in namespaces that the configuration does not expect.
pub(crate) fn requested(
    args: &PruneArgs,
    input: &InputArgs,
    shard: Option<Shard>,
    expect: &Expectation,
) -> Result<Option<Requested>, Failure> {
    if !args.prune_allow.is_empty() && (!args.prune || args.applyset.is_none()) {
        let hint =
            "name the set whose members may be deleted, as in `--prune --applyset=NAME --prune-allow=namespaces`";
        return Err(Failure::refused("`--prune-allow` needs `--prune` and `--applyset`", hint));
    }
    if args.applyset_recover && !(args.prune && args.applyset.is_some()) {
        let hint = "name the set whose lost members may be deleted, as in `--prune --applyset=NAME --applyset-recover`";
        return Err(Failure::refused("`--applyset-recover` needs `--prune` and `--applyset`", hint));
    }
    let set = match (args.prune, &args.applyset) {
        (false, None) => return Ok(None),
        (true, Some(set)) => set,
        (true, None) => {
            let hint = "name the set whose members may be deleted, as in `--prune --applyset=NAME`";
            return Err(Failure::refused("`--prune` needs `--applyset`", hint));
        }
        (false, Some(set)) => {
            let hint = format!(
                "pass `--prune --applyset={set}`: without pruning, the set would no longer match its manifests"
            );
            return Err(Failure::refused("`--applyset` needs `--prune`", hint));
        }
    };
    if input.selector.is_some() {
        let hint = "objects that the selector leaves out would be deleted: apply the whole set";
        return Err(Failure::refused("`--prune` and `--selector` cannot be combined", hint));
    }
    match ParentReference::parse(set) {
        Ok(reference) => {
            let expect = expect.clone();
            let refusal = Arc::new(move |namespace: &str| expect.refusal_of_namespace(namespace));
            let limits = Limits { allowed: args.allowed(), refusal };
            Ok(Some(Requested { reference, recovers: args.applyset_recover, shard, limits }))
        }
        Err(message) => Err(Failure::refused(message, "write `NAME` for a Secret, or `RESOURCE[.GROUP]/NAME`")),
    }
}

/// Without its apply set, nothing is compared. An interrupted run says that it was interrupted.
impl From<ApplySetError> for Failure {
    fn from(error: ApplySetError) -> Self {
        match error {
            ApplySetError::Refused(diagnostics) => Self { verdict: Verdict::Invalid, diagnostics },
            ApplySetError::Unreadable(diagnostic) => {
                let is_interrupted = diagnostic.code == Code::Interrupted;
                let verdict = if is_interrupted { Verdict::Interrupted } else { Verdict::Incomplete };
                Self { verdict, diagnostics: vec![diagnostic] }
            }
        }
    }
}
