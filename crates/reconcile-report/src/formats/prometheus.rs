//! `-o prometheus`: metrics for the textfile collector of the node exporter, and for a push gateway.

use std::fmt::Write as _;

use reconcile_core::text::visible;
use serde::Serialize;
use serde_json::Value;

use crate::model::summary::tally;
use crate::model::{ContextReport, Level, ObjectReport, Report, Reports};
use crate::view::View;
use crate::words::{describe, findings};

/// Most objects with a series of their own.
const OBJECTS: usize = 500;

/// The series of one metric: the values of its labels, and the number.
struct Metric {
    name: &'static str,
    help: &'static str,
    samples: Vec<(Labels, usize)>,
}

type Labels = Vec<(&'static str, String)>;

/// The metrics in the text format of Prometheus: each with its help and type, then its samples.
pub fn render(reports: &Reports, _: &View) -> String {
    let contexts = &reports.contexts;
    let mut text = String::new();
    for metric in [
        exit_code(contexts),
        objects(contexts),
        outcomes(contexts),
        changes(contexts),
        fields(contexts),
        unmanaged_objects(contexts),
        baseline(contexts),
        hooks(contexts),
        rules(contexts),
        requests(contexts),
        readiness(contexts),
        left_out(contexts),
        drifted(contexts),
    ] {
        write(&mut text, &metric);
    }
    text
}

fn write(text: &mut String, Metric { name, help, samples }: &Metric) {
    if samples.is_empty() {
        return;
    }
    let _ = writeln!(text, "# HELP kubectl_reconcile_{name} {help}\n# TYPE kubectl_reconcile_{name} gauge");
    for (labels, value) in samples {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let _ = writeln!(text, "kubectl_reconcile_{name}{{{}}} {value}", labels.join(","));
    }
}

/// The value of a label (Prometheus, "Exposition formats"): everything visible, and `\`, `"` and line feeds escaped.
fn escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The labels of every series: the command, and the context if there are several.
fn labels(one: &ContextReport) -> Labels {
    let cluster = one.report.cluster.as_ref().and_then(|cluster| cluster.context.as_deref());
    let context = one.context.as_deref().or(cluster).unwrap_or_default();
    vec![("command", snake_case(&one.report.command)), ("context", context.to_owned())]
}

/// A word of the report: `changed_by_other` for `changedByOther`.
fn snake_case<T: Serialize>(value: &T) -> String {
    let Ok(Value::String(word)) = serde_json::to_value(value) else { return String::new() };
    let mut snake = String::new();
    for c in word.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

fn with(labels: &Labels, name: &'static str, value: impl Into<String>) -> Labels {
    let mut labels = labels.clone();
    labels.push((name, value.into()));
    labels
}

/// A metric that has a series for each of these words of a cluster, with its number.
fn by_word<W: Into<String>, I: IntoIterator<Item = (W, usize)>>(
    contexts: &[ContextReport],
    (name, help): (&'static str, &'static str),
    label: &'static str,
    words: impl Fn(&Report) -> I,
) -> Metric {
    let mut samples = Vec::new();
    for one in contexts {
        let labels = labels(one);
        samples.extend(words(&one.report).into_iter().map(|(word, count)| (with(&labels, label, word), count)));
    }
    Metric { name, help, samples }
}

/// The counts that a report has.
fn known<W>(counts: impl IntoIterator<Item = (W, Option<usize>)>) -> impl Iterator<Item = (W, usize)> {
    counts.into_iter().filter_map(|(word, count)| Some((word, count?)))
}

fn exit_code(contexts: &[ContextReport]) -> Metric {
    by_word(contexts, ("exit_code", "Exit code of the last run, with its verdict."), "verdict", |report| {
        [(snake_case(&report.verdict), usize::from(report.exit_code))]
    })
}

fn objects(contexts: &[ContextReport]) -> Metric {
    by_word(contexts, ("objects", "Objects of the last run, by the action that they need."), "action", |report| {
        let counts = &report.summary;
        known([
            ("in_sync", counts.in_sync),
            ("create", counts.create),
            ("update", counts.update),
            ("replace", counts.replace),
            ("delete", counts.delete),
            ("unknown", Some(counts.unknown)),
            ("kept", counts.kept.or_else(|| counts.create.and(Some(0)))),
        ])
    })
}

fn outcomes(contexts: &[ContextReport]) -> Metric {
    by_word(contexts, ("outcomes", "Objects of the last run, by outcome."), "outcome", |report| {
        tally(report.objects.iter().filter_map(|object| object.run.outcome.as_ref()).map(snake_case))
    })
}

fn changes(contexts: &[ContextReport]) -> Metric {
    by_word(contexts, ("changes", "Differences that the last run found, by class."), "class", |report| {
        tally(report.objects.iter().flat_map(|object| &object.diff.changes).map(|change| snake_case(&change.class)))
    })
}

fn fields(contexts: &[ContextReport]) -> Metric {
    let help = "Fields that are not drift: ignored by rules, left by `--only`, or added by others.";
    by_word(contexts, ("other_fields", help), "what", |report| {
        let counts = &report.summary;
        known([
            ("ignored", counts.ignored),
            ("left", counts.left.or_else(|| counts.ignored.and(Some(0)))),
            ("unmanaged", counts.unmanaged),
            ("unmanaged_manual", counts.unmanaged_manual),
            ("added_items", counts.added_items),
        ])
    })
}

/// The objects that nothing explains, where they were searched for.
fn unmanaged_objects(contexts: &[ContextReport]) -> Metric {
    let searched = contexts.iter().filter_map(|one| Some((labels(one), one.report.unmanaged.as_ref()?.len())));
    let help = "Objects that no manifest, owner or apply set explains.";
    Metric { name: "unmanaged_objects", help, samples: searched.collect() }
}

/// The differences of a baseline, where the run has one.
fn baseline(contexts: &[ContextReport]) -> Metric {
    let help = "Differences that the baseline has as well, or alone.";
    by_word(contexts, ("baseline", help), "state", |report| {
        known([("known", report.summary.known), ("resolved", report.summary.resolved)])
    })
}

fn hooks(contexts: &[ContextReport]) -> Metric {
    let samples = contexts.iter().map(|one| (labels(one), one.report.summary.hooks)).collect();
    Metric { name: "hooks_left_out", help: "Hooks of Helm and Argo CD that the last run left out.", samples }
}

fn rules(contexts: &[ContextReport]) -> Metric {
    let mut samples = Vec::new();
    for one in contexts {
        let Some(configuration) = &one.report.configuration else { continue };
        let labels = with(&labels(one), "file", configuration.file.as_deref().unwrap_or_default());
        let counts = [
            ("ignore", configuration.rules),
            ("readiness", configuration.readiness_rules),
            ("annotation", configuration.annotated),
        ];
        samples.extend(counts.map(|(what, count)| (with(&labels, "what", what), count)));
    }
    Metric { name: "rules", help: "Rules in force, by file, and manifests with an ignore annotation.", samples }
}

fn requests(contexts: &[ContextReport]) -> Metric {
    by_word(contexts, ("requests", "Requests that the last run sent."), "verb", |report| {
        let Ok(Value::Object(counts)) = serde_json::to_value(report.requests) else { return Vec::new() };
        let number = |count: &Value| count.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        counts.iter().map(|(verb, count)| (snake_case(verb), number(count))).collect()
    })
}

fn readiness(contexts: &[ContextReport]) -> Metric {
    by_word(contexts, ("readiness", "Objects of the last run, by readiness."), "state", |report| {
        let counts = report.summary.readiness;
        known([
            ("current", counts.map(|counts| counts.current)),
            ("in_progress", counts.map(|counts| counts.in_progress)),
            ("failed", counts.map(|counts| counts.failed)),
            ("terminating", counts.map(|counts| counts.terminating)),
            ("not_found", counts.map(|counts| counts.not_found)),
            ("unknown", counts.map(|counts| counts.unknown)),
        ])
    })
}

/// The objects that need a change.
fn drifting(one: &ContextReport) -> impl Iterator<Item = &ObjectReport> {
    let ContextReport { context, report, .. } = one;
    report.objects.iter().filter(move |object| {
        findings::of_object(context.as_deref(), object, report.command).any(|found| found.level > Level::Note)
    })
}

fn left_out(contexts: &[ContextReport]) -> Metric {
    let more = |one: &ContextReport| drifting(one).count().saturating_sub(OBJECTS);
    let samples = contexts.iter().map(|one| (labels(one), more(one))).collect();
    Metric { name: "objects_left_out", help: "Objects that have no series in kubectl_reconcile_object.", samples }
}

fn drifted(contexts: &[ContextReport]) -> Metric {
    let mut samples = Vec::new();
    for one in contexts {
        let common = labels(one);
        for object in drifting(one).take(OBJECTS) {
            let mut labels = with(&common, "api_version", object.key.gvk.api_version());
            labels.push(("kind", object.key.gvk.kind.clone()));
            labels.push(("namespace", object.key.namespace.clone().unwrap_or_default()));
            labels.push(("name", object.key.name.clone()));
            labels.push(("state", describe::state(object).replace(' ', "_")));
            samples.push((labels, 1));
        }
    }
    Metric { name: "object", help: "Objects that differ, could not be compared or applied, or are not ready.", samples }
}
