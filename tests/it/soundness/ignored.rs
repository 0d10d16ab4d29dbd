//! What a rule ignores stays as it is, no matter who owns it and what else the apply changes: compared with the API server with rules for
//! fields at random.

use std::sync::Arc;

use jiff::Timestamp;
use kubectl_reconcile::engine::write::{Replacements, Written};
use reconcile_core::compare::{ForceConflicts, Policy, Redactor};
use reconcile_core::diagnostic::Location;
use reconcile_core::manifest::DesiredObject;
use reconcile_core::rules::{FieldPattern, IgnoreRule, IgnoreRules, ObjectPattern};
use serde_json::Value;
use structured_merge::{FieldPath, PathElement, changes, fields_of};

use super::engine::ask;
use super::{OURS, Run};
use crate::generated::{Rng, resource_of};

/// Compares and writes as the program does with a rule for one field.
pub async fn check(run: &mut Run<'_>, manifest: &Value, live: &Value) {
    let ground = run.ground;
    let mut target = run.target.clone();
    target.desired = DesiredObject::exactly(manifest.clone(), target.desired.origin.clone());
    let of = ground.of(&target);
    let fields = fields_of(live, of).union(&fields_of(manifest, of));
    let Some((path, pattern)) = any_field(&fields.paths(), &[live, manifest], &mut run.rng) else { return };
    let force = *run.rng.pick(&[ForceConflicts::Manual, ForceConflicts::All]);
    let policy = Policy { force, ignore: rules(pattern), ..Policy::of(OURS) };

    let decision = ask(run, &target, &policy, live.clone()).await;
    let (Some(live), Some(_)) = (decision.live_object(), decision.prediction()) else {
        return run.tally.count("ignored", "proven, refused or unknown");
    };
    let before = &live.current.object;
    let ignored = &live.ignored;
    if ignored.is_empty() {
        return run.tally.count("ignored", "created with the manifest's value");
    }
    let kind = &target.key.gvk.kind;
    let about = || format!("{kind} {path}, {force:?}\nmanifest {manifest}\nlive {before}");
    let shown = decision.diff.changes.iter().find(|change| ignored.contains_at_or_above(&change.path));
    if let Some(change) = shown {
        run.tally.fail("shown although it is ignored", format!("{change:?}: {}", about()));
    }
    let redactor = Redactor::default();
    let replacements = Replacements::default();
    let writes = ground.writes(&policy, &redactor, &replacements);
    let written = writes.write(&target, &decision, of).await;
    let now = ground.get(&target).await;
    match &written {
        Some(Written::Updated | Written::Adopted) => run.tally.count("ignored", "written"),
        other => return run.tally.count("ignored", if other.is_none() { "nothing to write" } else { "not written" }),
    }
    let reset = changes(before, &now, of, resource_of(&target).status);
    let reset = reset.into_iter().find(|change| ignored.contains_at_or_above(&change.path));
    if let Some(change) = reset {
        run.tally.fail("written although it is ignored", format!("{change:?}: {}\nnow {now}", about()));
    }
}

/// A field of an object, or a part of one that is replaced as a whole.
fn any_field(paths: &[FieldPath], objects: &[&Value; 2], rng: &mut Rng) -> Option<(FieldPath, FieldPattern)> {
    // The server's own fields are not worth a rule.
    let is_apart = |path: &FieldPath| {
        let text = path.to_string();
        text.starts_with("status") || text.starts_with("metadata.managedFields") || text == "metadata"
    };
    let paths: Vec<_> = paths.iter().filter(|path| !is_apart(path)).collect();
    (0..10).find_map(|_| {
        let path = *paths.get(rng.below(paths.len().max(1)))?;
        let object = *rng.pick(objects);
        let path = part(path.clone(), path.value_in(object), rng);
        Some((path.clone(), FieldPattern::parse(&path.to_string()).ok()?))
    })
}

/// A part of a list without keys at random, or the path itself.
fn part(path: FieldPath, value: Option<&Value>, rng: &mut Rng) -> FieldPath {
    let is_inside = matches!(path.elements().last(), Some(PathElement::Index(_)));
    match value {
        Some(Value::Array(items)) if !items.is_empty() && rng.chance(80) => {
            let index = rng.below(items.len());
            part(path.child(PathElement::index(index)), items.get(index), rng)
        }
        Some(Value::Object(fields)) if is_inside && !fields.is_empty() && rng.chance(80) => {
            let (name, value) = fields.iter().nth(rng.below(fields.len())).expect("a field of the map");
            let inside = path.field(name);
            match value {
                Value::Array(items) if !items.is_empty() => part(inside, Some(value), rng),
                _ => inside,
            }
        }
        _ => path,
    }
}

fn rules(pattern: FieldPattern) -> Arc<IgnoreRules> {
    let location = Location { file: "rules.yaml".into(), line: Some(1), column: Some(1) };
    let target = ObjectPattern::default();
    let managers = Vec::new();
    let rule = IgnoreRule { target, fields: vec![pattern], managers, reason: None, expires: None, location };
    Arc::new(IgnoreRules::in_force(vec![rule], Timestamp::UNIX_EPOCH).0)
}
