//! `-o unified`: a patch of the objects as YAML, as people know it from `kubectl diff`.
//!
//! It is made of the two versions that the comparison keeps for this format, without the fields that only the server writes.
//! Secret values are masked in them as kubectl does. Remarks that are no part of a patch are lines that begin with `#`, which
//! `patch` skips.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use reconcile_core::compare::{Action, masked, without_server_fields};
use reconcile_core::text::{visible, yaml};
use similar::{ChangeTag, DiffOp};

use crate::model::{ContextReport, FailOn, ObjectReport, Reports};
use crate::theme::Theme;
use crate::view::View;
use crate::words::findings::Finding;
use crate::words::sentence::location::encoded;
use crate::words::styled::Role;
use crate::words::value::line_diff::{MATCHED, grouped};
use crate::words::{describe, findings};

/// The start of a line that is no part of the patch. The lines of objects begin with a sign or a blank.
const REMARK: &str = "# ";
/// Lines of context, as in `diff -u`.
const CONTEXT: usize = 3;
/// Longest name of a file, in bytes: file systems take 255.
const NAME: usize = 200;

/// An object that differs, as two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePair {
    /// Their name, as that of kubectl: `apps.v1.Deployment.shop.web`. It is safe on every file system and the same object never
    /// has two.
    pub name: String,
    /// The live object; `None` if it does not exist.
    pub live: Option<String>,
    /// The object after an apply; `None` if it is to be deleted.
    pub desired: Option<String>,
}

/// The patch.
pub fn render(reports: &Reports, view: &View) -> String {
    let mut patch = String::new();
    for warning in &reports.warnings {
        remark(&mut patch, &describe::message(warning));
    }
    let mut names = FileNames::default();
    for one in &reports.contexts {
        for found in findings::of_run(one) {
            remark(&mut patch, &about(&found));
        }
        let gate = FailOn::reported(&one.report.fail_on);
        for object in view.sorted(&one.report) {
            let pair = pair(one, object, &mut names);
            let fails = view.is_unowned(object) || gate.chooses(object);
            if object.diff.action != Action::None || object.is_incomplete() || fails {
                remarks_of(&mut patch, one, object, pair.is_some());
            }
            if let Some(pair) = pair {
                patch_of(&mut patch, &pair);
            }
        }
    }
    patch
}

/// A patch in colours, as git has them: headers bold, hunks cyan, removed and added lines red and green.
pub fn colored(patch: &str, theme: &Theme) -> String {
    let mut painted = String::with_capacity(patch.len());
    // Lines of the header after the first one: a removed line may begin with `--` as well.
    let mut header = 0_usize;
    for line in patch.lines() {
        let role = match line.bytes().next() {
            Some(b'd') => Role::Name,
            Some(b'-' | b'+') if header > 0 => Role::Name,
            Some(b'@') => Role::Hint,
            Some(b'-') => Role::Remove,
            Some(b'+') => Role::Add,
            Some(b'#') => Role::Note,
            _ => Role::Plain,
        };
        header = if line.starts_with('d') { 2 } else { header.saturating_sub(1) };
        let style = theme.style(role);
        let _ = writeln!(painted, "{style}{line}{style:#}");
    }
    painted
}

/// The remarks next to the patch: all its lines that begin with `#`, without that sign.
pub fn remarks(reports: &Reports, view: &View) -> Vec<String> {
    render(reports, view).lines().filter_map(|line| line.strip_prefix(REMARK).map(ToOwned::to_owned)).collect()
}

/// The objects that differ, as files.
pub fn files(reports: &Reports) -> Vec<FilePair> {
    let mut names = FileNames::default();
    let pairs = reports.contexts.iter().flat_map(|one| one.report.objects.iter().map(move |object| (one, object)));
    pairs.filter_map(|(one, object)| pair(one, object, &mut names)).collect()
}

fn pair(one: &ContextReport, object: &ObjectReport, names: &mut FileNames) -> Option<FilePair> {
    let whole = object.diff.changes.first();
    let (live, desired) = match (object.diff.action, &object.diff.notes.versions) {
        (Action::Create, _) => (None, Some(masked(whole?.desired.as_deref()?))),
        (Action::Delete, _) => (Some(masked(&without_server_fields(whole?.live.as_deref()?))), None),
        (Action::Update | Action::Replace, Some(versions)) => {
            (Some(versions.live.clone()), Some(versions.desired.clone()))
        }
        _ => return None,
    };
    let text = |object| yaml(&object);
    Some(FilePair { name: file_name(one, object, names), live: live.map(text), desired: desired.map(text) })
}

/// kubectl `pkg/cmd/diff`, `InfoObject.Name`, with everything encoded that is no letter, digit, `-`, `_` or dot.
fn file_name(one: &ContextReport, object: &ObjectReport, names: &mut FileNames) -> String {
    let gvk = &object.key.gvk;
    let namespace = object.key.namespace.as_deref().unwrap_or_default();
    let parts = [one.name(), &gvk.group, &gvk.version, &gvk.kind];
    let parts = parts.into_iter().filter(|part| !part.is_empty()).chain([namespace, &object.key.name]);
    let mut name = parts.map(|part| encoded(part, "-_.")).collect::<Vec<_>>().join(".");
    if name.starts_with('.') {
        name.insert(0, '_');
    }
    name.truncate(NAME);
    names.unique(&name)
}

/// The names that are taken. On some file systems, upper and lower case are the same.
#[derive(Default)]
struct FileNames {
    taken: BTreeSet<String>,
    /// Number of files so far that begin with this name.
    counts: BTreeMap<String, usize>,
}

impl FileNames {
    /// The name itself, or with a number behind it.
    fn unique(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.to_lowercase()).or_default();
        loop {
            *count += 1;
            let unique = if *count == 1 { name.to_owned() } else { format!("{name}-{count}") };
            if self.taken.insert(unique.to_lowercase()) {
                return unique;
            }
        }
    }
}

/// The remarks about an object next to its patch.
fn remarks_of(patch: &mut String, one: &ContextReport, object: &ObjectReport, has_patch: bool) {
    for found in findings::of_object(one.context.as_deref(), object, one.report.command) {
        // A patch has the fields; what their apply sets off is no remark about it.
        if found.rule != findings::EFFECT && (!found.is_change || !has_patch) {
            remark(patch, &about(&found));
        }
    }
    for conflict in &object.diff.conflicts {
        let name = findings::name(object, one.context.as_deref());
        remark(patch, &format!("{name}: conflict: {}", describe::conflict(conflict)));
    }
}

/// `Deployment shop/web in prod: notReady: 1 of 2 replicas are updated`
fn about(found: &Finding<'_>) -> String {
    let subject = findings::subject(found).map(|subject| format!("{subject}: ")).unwrap_or_default();
    let rule = if found.object.is_some() { format!("{}: ", found.rule.id) } else { String::new() };
    format!("{subject}{rule}{}", found.message)
}

fn remark(patch: &mut String, text: &str) {
    let _ = writeln!(patch, "{REMARK}{}", visible(text));
}

fn patch_of(patch: &mut String, FilePair { name, live, desired }: &FilePair) {
    let old = live.as_deref().unwrap_or_default();
    let new = desired.as_deref().unwrap_or_default();
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let groups = grouped((MATCHED, CONTEXT), &old, &new);
    if groups.is_empty() {
        return;
    }
    let label = |folder: &str, file: &Option<String>| {
        if file.is_some() { format!("{folder}/{name}") } else { "/dev/null".to_owned() }
    };
    let _ = writeln!(patch, "diff -u -N LIVE/{name} MERGED/{name}");
    let _ = writeln!(patch, "--- {}\n+++ {}", label("LIVE", live), label("MERGED", desired));
    for group in groups {
        hunk(patch, &group, &old, &new);
    }
}

fn hunk(patch: &mut String, group: &[DiffOp], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let range = |start: usize, end: usize| match (start + 1, end.saturating_sub(start)) {
        (_, 0) => format!("{start},0"),
        (first, 1) => format!("{first}"),
        (first, length) => format!("{first},{length}"),
    };
    let before = range(first.old_range().start, last.old_range().end);
    let after = range(first.new_range().start, last.new_range().end);
    let _ = writeln!(patch, "@@ -{before} +{after} @@");
    for change in group.iter().flat_map(|op| op.iter_changes(old, new)) {
        patch.push(match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        });
        patch.push_str(change.value());
    }
}

#[cfg(test)]
mod tests {
    use structured_merge::{GroupVersionKind, ObjectKey};

    use super::*;
    use crate::model::{Command, Report};
    use reconcile_core::compare::{Evidence, ObjectDiff};

    #[test]
    fn names_of_files_are_safe_and_never_the_same() {
        let object = |name: &str| {
            let gvk = GroupVersionKind::new("rbac.authorization.k8s.io/v1", "ClusterRole");
            let key = ObjectKey { gvk, namespace: None, name: name.to_owned() };
            ObjectReport::unwanted(&key, ObjectDiff::in_sync(Evidence::Proven))
        };
        let report = Report::compared(Command::Diff, Vec::new(), &FailOn::default());
        let one = ContextReport { context: None, server: None, report };
        let mut names = FileNames::default();
        let mut name = |name: &str| file_name(&one, &object(name), &mut names);
        assert_eq!(name("system:node"), "rbac.authorization.k8s.io.v1.ClusterRole..system%3Anode");
        assert_eq!(name("../../etc/passwd\n"), "rbac.authorization.k8s.io.v1.ClusterRole....%2F..%2Fetc%2Fpasswd%0A");
        // On some file systems, upper and lower case are the same.
        assert_eq!(name("SYSTEM:node"), "rbac.authorization.k8s.io.v1.ClusterRole..SYSTEM%3Anode-2");
        let one = name(&"x".repeat(300));
        let other = name(&"x".repeat(301));
        assert!(one.len() <= NAME && other.len() < 255 && one != other);
        assert_eq!(name("system:node-2"), "rbac.authorization.k8s.io.v1.ClusterRole..system%3Anode-2-2");
    }

    #[test]
    fn colours_are_those_of_git_and_change_no_character() {
        let patch = "# a remark\ndiff -u -N LIVE/a MERGED/a\n--- LIVE/a\n+++ MERGED/a\n@@ -1,3 +1,3 @@\n a: 1\n--- x\n+++ y\n+c\n";
        let painted = colored(patch, &crate::theme::STANDARD);
        let lines: Vec<&str> = painted.lines().collect();
        let begins = |line: usize, code: &str| lines[line].starts_with(&format!("\u{1b}[{code}m"));
        assert!(begins(1, "1") && begins(2, "1") && begins(3, "1"), "{lines:?}");
        assert!(
            begins(4, "36") && lines[5] == " a: 1" && begins(6, "31") && begins(7, "32") && begins(8, "32"),
            "{lines:?}"
        );
        assert_eq!(strip(&painted), patch);
    }

    fn strip(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
    }

    /// As many as a manifest can hold: trying all numbers for each would take minutes.
    #[test]
    fn many_objects_may_share_the_start_of_a_long_name() {
        let start = "x".repeat(NAME);
        let mut names = FileNames::default();
        let unique: BTreeSet<String> = (0..40_000).map(|_| names.unique(&start)).collect();
        assert_eq!(unique.len(), 40_000);
    }
}
