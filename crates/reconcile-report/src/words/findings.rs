//! The findings of a run, one by one: a rule, a level, a sentence, a location, and a fingerprint that identifies it in every run,
//! so that code-review tools recognise it although lines and values changed.

use std::collections::HashMap;

use reconcile_core::compare::Action;
use reconcile_core::diagnostic::{Diagnostic, Severity, is_kustomization};
use reconcile_core::manifest::Source;
use reconcile_core::text::{hex, visible};
use ring::digest::{SHA256, digest};

use super::effects::effect;
use super::label::outcome_name;
use super::owned::{Passing, fields, passing};
use super::parts::{Part, has_parts};
use super::{deletions, describe};
use crate::model::{CLASSES, ClassInfo, Command, ContextReport, Level, ObjectReport, Report};

/// Most fields that a finding names.
const NAMED: usize = 5;

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its name; for a class of changes that of the report.
    pub id: &'static str,
    /// The level as long as it is not resolved.
    pub level: Level,
    /// One sentence.
    pub help: &'static str,
}

const fn rule(id: &'static str, level: Level, help: &'static str) -> Rule {
    Rule { id, level, help }
}

const REPLACE: Rule =
    rule("replace", Level::Warning, "A field that cannot be changed differs: the object would have to be replaced");
const NOT_COMPARED: Rule = rule("notCompared", Level::Error, "The object could not be compared");
const NOT_APPLIED: Rule = rule("notApplied", Level::Error, "The object could not be applied");
const NEEDS_CONSENT: Rule = rule("needsConsent", Level::Warning, "The deletion has to be allowed (`--prune-allow`)");
const RENAMED: Rule =
    rule("renamed", Level::Note, "An object has a new name, because the name has a hash of the content");
const TRANSFERRED: Rule =
    rule("transferred", Level::Note, "Fields of the object pass to another manager, and no value changes (`own`)");
const NOT_READY: Rule = rule("notReady", Level::Error, "The object is not ready");
pub(crate) const EFFECT: Rule = rule(
    "effect",
    Level::Note,
    "An apply does more than write the fields: Pods restart, stop, or keep what they read before",
);
pub(crate) const WARNING: Rule = rule("warning", Level::Note, "A warning for the author of the manifest");
pub(crate) const UNMANAGED_OBJECT: Rule =
    rule("unmanagedObject", Level::Note, "No manifest, owner or apply set explains the object");
pub(crate) const DROPPED: Rule =
    rule("dropped", Level::Note, "An object of the base that is no longer in the manifests, and that stays");
/// Hooks and differences that are left alone; at most one finding for each cluster.
pub(crate) const IGNORED: Rule =
    rule("ignored", Level::Note, "Hooks and differences that are left alone, and the rules that say so");
const RUN: Rule = rule("run", Level::Error, "An error of the input or of the run as a whole");

/// All rules: the classes of changes first.
pub(crate) fn rules() -> impl Iterator<Item = Rule> {
    let others = [
        REPLACE,
        NOT_COMPARED,
        NOT_APPLIED,
        NEEDS_CONSENT,
        RENAMED,
        TRANSFERRED,
        NOT_READY,
        WARNING,
        UNMANAGED_OBJECT,
        IGNORED,
        DROPPED,
        RUN,
        EFFECT,
    ];
    CLASSES.iter().map(Rule::from).chain(others)
}

impl From<&ClassInfo> for Rule {
    fn from(row: &ClassInfo) -> Self {
        Self { id: row.id, level: row.level, help: row.help }
    }
}

/// A location in a file of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindingLocation<'r> {
    /// The file as it was named, `stdin` for standard input, or a template.
    pub file: &'r str,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
}

/// A finding.
#[derive(Clone, Debug)]
pub(crate) struct Finding<'r> {
    /// The kind.
    pub rule: Rule,
    /// The current level.
    pub level: Level,
    /// The context, if there are several.
    pub context: Option<&'r str>,
    /// The object; `None` if it concerns the run.
    pub object: Option<&'r ObjectReport>,
    /// The field; empty if it concerns the whole object.
    pub path: String,
    /// True if it is one of the changes of the object.
    pub is_change: bool,
    /// The part of the comparison that it belongs to, if it is a change or an effect of one.
    pub part: Option<Part>,
    /// One sentence, on one line, with everything visible.
    pub message: String,
    /// The location, if it is known.
    pub location: Option<FindingLocation<'r>>,
}

impl<'r> Finding<'r> {
    /// A finding of a rule, as long as nothing else is known of it.
    fn new(context: Option<&'r str>, rule: Rule, message: String) -> Self {
        Self {
            rule,
            level: rule.level,
            context,
            object: None,
            path: String::new(),
            is_change: false,
            part: None,
            message,
            location: None,
        }
    }

    /// Says in which part of the comparison it is.
    fn in_part(self) -> Self {
        let prefix = self.part.map_or("", Part::prefix);
        Self { message: format!("{prefix}{}", self.message), ..self }
    }
}

/// All findings of a cluster: those of the run, then those of the objects in the order of the plan.
pub(crate) fn findings(one: &ContextReport) -> Vec<Finding<'_>> {
    let mut found = of_run(one);
    let objects = one.report.objects.iter();
    let of_objects = objects.flat_map(|object| of_object(one.context.as_deref(), object, one.report.command));
    found.extend(in_parts(&one.report, of_objects));
    found
}

/// Findings in the order of the parts of a comparison, each with the words for its part, if there are any.
pub(crate) fn in_parts<'r>(report: &Report, found: impl Iterator<Item = Finding<'r>>) -> Vec<Finding<'r>> {
    if !has_parts(report) {
        return found.collect();
    }
    let mut found: Vec<Finding<'r>> = found.map(Finding::in_part).collect();
    found.sort_by_key(|found| found.part.unwrap_or(Part::Changed));
    found
}

/// The findings of the run as a whole.
pub(crate) fn of_run(one: &ContextReport) -> Vec<Finding<'_>> {
    let Report { errors, warnings, unmanaged, .. } = &one.report;
    let finding = |rule, message| Finding::new(one.context.as_deref(), rule, message);
    let general = |rule, text: &str| finding(rule, describe::message(text));
    let errors = errors.iter().map(|error| {
        let level = if error.severity == Severity::Error { Level::Error } else { Level::Note };
        let message = describe::with_hint(&error.message, error.hint.as_deref());
        Finding { level, location: location_of(error), ..finding(RUN, message) }
    });
    let warnings = warnings.iter().map(|text| general(WARNING, text));
    let unmanaged = unmanaged.iter().flatten();
    let unmanaged =
        unmanaged.map(|object| general(UNMANAGED_OBJECT, &format!("{}: {}", object.key(), object.reason())));
    let dropped = one.report.dropped.iter().take(MOST_NAMED);
    let words = no_longer_in_manifests(&one.report);
    let dropped = dropped.map(|object| general(DROPPED, &format!("{}: {words}", object.key())));
    let ignored = describe::left_alone(&one.report).map(|text| general(IGNORED, &text));
    errors.chain(dropped).chain(ignored).chain(warnings).chain(unmanaged).collect()
}

/// The location of an object: for a text that came from a stream, its template if it has one. The line in a template or in a
/// kustomization is not known.
pub(crate) fn own_location(source: &Source) -> FindingLocation<'_> {
    let file = source.template_of_stream().unwrap_or(&source.file);
    FindingLocation { file, line: source.line_in_file(), column: None }
}

fn location_of(diagnostic: &Diagnostic) -> Option<FindingLocation<'_>> {
    let at = diagnostic.location.as_ref()?;
    let (line, column) = if is_kustomization(&at.file) { (None, None) } else { (at.line, at.column) };
    Some(FindingLocation { file: &at.file, line, column })
}

/// The findings of one object, the most important first; none for an object that is in sync without remarks.
pub(crate) fn of_object<'r>(
    context: Option<&'r str>,
    object: &'r ObjectReport,
    command: Command,
) -> impl Iterator<Item = Finding<'r>> {
    let mut findings = Findings { context, object, own: object.source.as_ref().map(own_location), found: Vec::new() };
    findings.add_errors();
    findings.add_state();
    findings.add_changes();
    findings.add_remarks(command);
    let mut found = findings.found;
    if object.is_done() {
        found
            .iter_mut()
            .filter(|one| ![EFFECT, NOT_READY, WARNING].contains(&one.rule) && command != Command::Own)
            .for_each(settle);
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.level));
    found.into_iter()
}

/// Collects the findings of one object.
struct Findings<'r> {
    context: Option<&'r str>,
    object: &'r ObjectReport,
    /// The location of its manifest.
    own: Option<FindingLocation<'r>>,
    found: Vec<Finding<'r>>,
}

impl<'r> Findings<'r> {
    /// A finding at the manifest of the object.
    fn finding(&self, rule: Rule, message: String) -> Finding<'r> {
        let Self { context, object, own, .. } = self;
        Finding { object: Some(object), location: own.clone(), ..Finding::new(*context, rule, message) }
    }

    fn add(&mut self, rule: Rule, message: String) {
        let one = self.finding(rule, message);
        self.found.push(one);
    }

    /// Returns true if the lines of the manifest are in no file: those of a stream and of what was built are nowhere else.
    fn is_in_no_file(&self) -> bool {
        self.object.source.as_ref().is_some_and(|source| source.line_in_file().is_none())
    }

    fn add_errors(&mut self) {
        let is_in_no_file = self.is_in_no_file();
        for (rule, diagnostic) in errors(self.object) {
            // The location of the finding is the template or the kustomization: that in the stream is a part of the message.
            let place = diagnostic.location.as_ref().filter(|_| is_in_no_file);
            let place = place.map(|at| format!(" ({at})")).unwrap_or_default();
            let message = describe::with_hint(&format!("{}{place}", diagnostic.message), diagnostic.hint.as_deref());
            let location = location_of(diagnostic).filter(|_| !is_in_no_file);
            let one = self.finding(rule, message);
            self.found.push(Finding { location: location.or(one.location), ..one });
        }
    }

    /// Adds what is said of the object as a whole.
    fn add_state(&mut self) {
        let object = self.object;
        if object.diff.action == Action::Replace {
            let reason = object.messages.reason.as_deref().unwrap_or("a field that cannot be changed differs");
            let one = self.finding(REPLACE, describe::with_hint(reason, object.messages.hint.as_deref()));
            // An object that `apply` could not replace needs somebody to act.
            let level = if object.run.outcome.is_some() { Level::Error } else { one.level };
            self.found.push(Finding { level, ..one });
        } else if let Some(outcome) = stopped_by(object) {
            self.add(NOT_APPLIED, outcome);
        }
        if let Some((mark, _)) = deletions::mark(object).filter(|_| object.run.outcome.is_none()) {
            self.add(NEEDS_CONSENT, mark);
        }
        if let Some(former) = &object.renamed_from {
            self.add(RENAMED, describe::message(&format!("under a new name, was {former}")));
        }
        for Passing { managers, paths } in passing(object.diff.transfers.as_deref().unwrap_or_default()) {
            let named = paths.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let more = paths.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {}", fields(more)) } else { String::new() };
            self.add(TRANSFERRED, describe::message(&format!("{managers}: {named}{more}")));
        }
    }

    /// Adds the changes, each at the line of its field.
    fn add_changes(&mut self) {
        let is_in_no_file = self.is_in_no_file();
        for change in &self.object.diff.changes {
            let rule = Rule { level: ClassInfo::level_of(change), ..ClassInfo::of(change.class).into() };
            let line = self.object.line_of(&change.path).filter(|_| !is_in_no_file);
            let location = self.own.clone().map(|own| FindingLocation { line: line.or(own.line), ..own });
            let one = self.finding(rule, describe::change(change));
            let path = change.path.to_string();
            self.found.push(Finding { path, is_change: true, part: Part::of(change, self.object), location, ..one });
        }
    }

    /// Adds effects, readiness and warnings.
    fn add_remarks(&mut self, command: Command) {
        let object = self.object;
        for one in &object.diff.effects {
            let found = self.finding(EFFECT, describe::message(&effect(one)));
            self.found.push(Finding { part: Part::of_effect(one, object), ..found });
        }
        if let Some(readiness) = object.run.readiness.as_ref().filter(|readiness| !readiness.is_current()) {
            // A status that could not be read is reported as an error above.
            if object.messages.error.is_none() || command == Command::Apply {
                self.add(NOT_READY, describe::message(&readiness.message));
            }
        }
        for warning in &object.messages.warnings {
            self.add(WARNING, describe::message(warning));
        }
    }
}

/// Turns a resolved difference into a note: `updated: spec.replicas: 5 → 2`.
fn settle(found: &mut Finding<'_>) {
    let state = found.object.and_then(|object| object.run.outcome).map(outcome_name).unwrap_or_default();
    found.level = Level::Note;
    found.message = match found.path.as_str() {
        "" => state.to_owned(),
        _ => format!("{state}: {}", found.message),
    };
}

/// The errors for which an object could not be compared or applied: each mistake in the manifest at its location, or one error.
fn errors(object: &ObjectReport) -> impl Iterator<Item = (Rule, &Diagnostic)> {
    let rule = if object.diff.action == Action::Unknown { NOT_COMPARED } else { NOT_APPLIED };
    let error = object.messages.error.iter();
    error
        .flat_map(|error| if error.details.is_empty() { std::slice::from_ref(&**error) } else { &error.details[..] })
        .map(move |diagnostic| (rule, diagnostic))
}

/// The reason why an object was not changed, if no error has it.
fn stopped_by(object: &ObjectReport) -> Option<String> {
    object.run.outcome?;
    let is_reported = object.is_done() || object.messages.error.is_some() || !object.diff.conflicts.is_empty();
    let reason = object.messages.reason.as_deref().unwrap_or_else(|| describe::state(object));
    (!is_reported).then(|| describe::with_hint(reason, object.messages.hint.as_deref()))
}

/// The most objects that are named of those that no manifest has.
pub(crate) const MOST_NAMED: usize = 100;

/// The words about such an object.
pub(crate) fn no_longer_in_manifests(report: &Report) -> &'static str {
    match &report.apply_set {
        None => "no longer in the manifests; stays without --prune",
        Some(set) if set.pruned_by.is_some() => "no longer in the manifests; another shard prunes",
        Some(_) => "no longer in the manifests; stays, because it is no member of the apply set",
    }
}

/// Number of bytes of the digest that are kept.
const LENGTH: usize = 16;

/// A number for a finding that is the same in every run: derived from the context, the object, the rule and the field, and from
/// nothing that was read from the cluster. Findings that agree in all of these have different numbers.
pub(crate) fn unique(found: &Finding<'_>, seen: &mut HashMap<String, usize>) -> String {
    let group = found.object.map_or("", |object| &object.key.gvk.group);
    let name = found.object.map(|object| object.key.to_string()).unwrap_or_default();
    // A finding of the run has nothing but its message, in which that about ignored differences counts live ones. The message about a
    // missing object may name users.
    let has_only_message = found.object.is_none() || found.path.is_empty() && !found.is_change;
    let is_known_by_message = has_only_message && ![IGNORED, EFFECT].contains(&found.rule);
    let message = if is_known_by_message { found.message.as_str() } else { "" };
    let parts = [found.context.unwrap_or_default(), group, &name, found.rule.id, &found.path, message];
    let base = parts.join("\0");
    let count = seen.entry(base.clone()).or_default();
    *count += 1;
    let text = if *count == 1 { base } else { format!("{base}\0{count}") };
    hex(digest(&SHA256, text.as_bytes()).as_ref().get(..LENGTH).unwrap_or_default())
}

/// The subject of a finding: `Deployment shop/web`, `Deployment shop/web in prod`; `None` for a run in one context.
pub(crate) fn subject(found: &Finding<'_>) -> Option<String> {
    match (found.object, found.context) {
        (Some(object), context) => Some(name(object, context)),
        (None, context) => context.map(|context| visible(context).into_owned()),
    }
}

/// `Deployment shop/web`, or `Deployment shop/web in prod` where there are several contexts.
pub(crate) fn name(object: &ObjectReport, context: Option<&str>) -> String {
    let name = describe::name(object);
    context.map_or_else(|| name.clone(), |context| format!("{name} in {}", visible(context)))
}
