//! Random histories of objects: who moved a field last is known to the test, and the side that is reported is never wrong.
//!
//! Many objects are written in each call of a program, and several threads write at once. `SIDE_HISTORIES` says how many
//! histories there are.

mod kinds;
mod writers;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};
use structured_merge::FieldPath;

use crate::control_plane::{Rng, Run, Workspace, definition_with_status};
use kinds::{KINDS, Kind, WIDGET};
use writers::Tool;

/// The most histories that are written together.
const TOGETHER: u64 = 400;

/// The values of the fields of an object, in the order of its kind.
pub type Values = Vec<Option<Value>>;

/// The history of one object.
pub struct History {
    seed: u64,
    kind: &'static Kind,
    name: String,
    rng: Rng,
    /// What applies the manifests.
    tool: Tool,
    /// What was applied last.
    base: Values,
    live: Values,
    /// What is written as a whole with each field.
    wholes: Values,
    desired: Values,
    /// For each field, true if somebody else wrote it after the last apply.
    is_moved: Vec<bool>,
    story: Vec<String>,
}

/// Histories in one namespace.
pub struct Batch {
    pub ws: Workspace,
    pub histories: Vec<History>,
}

impl History {
    fn begin(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let kind = rng.pick(&KINDS);
        let base: Values = kind.fields.iter().map(|field| field.value(rng.below(60))).collect();
        Self {
            seed,
            kind,
            name: format!("o-{seed}"),
            tool: *rng.pick(&Tool::ALL),
            live: base.clone(),
            wholes: vec![None; base.len()],
            desired: base.clone(),
            is_moved: vec![false; base.len()],
            base,
            rng,
            story: Vec::new(),
        }
    }

    /// The kind and the name.
    pub fn key(&self) -> (String, String) {
        (self.kind.name.to_owned(), self.name.clone())
    }

    fn manifest(&self, ws: &Workspace, values: &Values) -> Value {
        let text = ws.fill_in(self.kind.template).replace("$NAME", &self.name);
        let mut object = serde_json::from_str(&text).unwrap();
        for (field, value) in self.kind.fields.iter().zip(values) {
            field.set(&mut object, value.as_ref());
        }
        object
    }

    /// Changes some of the values at random.
    fn moved(&mut self, values: &Values, percent: usize) -> Values {
        let fields = self.kind.fields.iter().zip(values);
        fields
            .map(
                |(field, value)| {
                    if self.rng.chance(percent) { field.value(self.rng.below(60)) } else { value.clone() }
                },
            )
            .collect()
    }

    /// The object as the server has it: what it changed was moved by somebody, or by an apply of the manifests.
    fn see(&mut self, object: &Value, by_manifests: bool) {
        for (number, field) in self.kind.fields.iter().enumerate() {
            let value = field.of(object);
            let whole = field.whole(object);
            let is_rewritten = !by_manifests && whole != self.wholes[number];
            if is_rewritten || field.meaning(value.as_ref()) != field.meaning(self.live[number].as_ref()) {
                self.is_moved[number] = !by_manifests;
            }
            self.wholes[number] = whole;
            // What the manifests do not have is not of them, whatever its value is.
            let is_applied = self.base[number].is_some()
                && field.meaning(value.as_ref()) == field.meaning(self.base[number].as_ref());
            if by_manifests && is_applied {
                self.is_moved[number] = false;
            }
            self.live[number] = value;
        }
    }

    /// Returns true if the live value of a field has nothing that the base does not have.
    fn is_part(&self, number: usize) -> bool {
        let (Some(Value::Object(live)), Some(base)) = (&self.live[number], &self.base[number]) else { return false };
        live.iter().all(|(name, value)| base.get(name) == Some(value))
    }

    pub fn about(&self, number: usize, object: &Value) -> String {
        let path = self.kind.fields[number].path();
        let changes = object["changes"].as_array().into_iter().flatten();
        let found: Vec<&Value> = changes.filter(|change| path_of(change).overlaps(&path)).collect();
        let field = &self.kind.fields[number];
        let [base, live, desired] =
            [&self.base, &self.live, &self.desired].map(|values| field.meaning(values[number].as_ref()));
        let Self { seed, story, kind, name, .. } = self;
        format!(
            "seed {seed}, {} {name}, {story:?}, {}: base {base}, live {live}, manifest {desired}\n{}",
            kind.name,
            field.path,
            json!(found)
        )
    }
}

impl Batch {
    /// Lets histories happen, each from its seed.
    pub fn of(seeds: impl Iterator<Item = u64>) -> Self {
        let ws = Workspace::new();
        ws.stdin(&definition_with_status("Widget", WIDGET)).kubectl(["create", "-f", "-"]).exits_with(0);
        ws.wait_for_types();
        let mut batch = Self { ws, histories: seeds.map(History::begin).collect() };
        batch.apply_manifests(|_| true);
        for _ in 0..4 {
            batch.change();
            batch.look(false);
            for history in &mut batch.histories {
                if history.rng.chance(12) {
                    history.base = history.moved(&history.base.clone(), 30);
                    history.tool = history.tool.next(&mut history.rng);
                    history.story.push(format!("{:?} again", history.tool));
                }
            }
            batch.apply_manifests(|history| history.story.last().is_some_and(|last| last.ends_with("again")));
        }
        for history in &mut batch.histories {
            history.desired = history.moved(&history.base.clone(), 40);
        }
        batch.write("old.json", |history| &history.base);
        batch.write("new.json", |history| &history.desired);
        batch
    }

    /// Writes the manifests of all objects into a file.
    fn write(&self, name: &str, values: impl Fn(&History) -> &Values) {
        let manifests = self.histories.iter().map(|history| history.manifest(&self.ws, values(history)).to_string());
        self.ws.write(name, &manifests.collect::<Vec<_>>().join("\n---\n"));
    }

    /// All live objects.
    pub fn objects(&self) -> BTreeMap<(String, String), Value> {
        let lists =
            KINDS.iter().map(|kind| (kind, self.ws.plane().api().find(&self.ws.fill_in(kind.collection)).unwrap()));
        let objects = lists.flat_map(|(kind, list)| {
            let items = list["items"].as_array().unwrap().clone();
            items
                .into_iter()
                .map(|item| ((kind.name.to_owned(), item["metadata"]["name"].as_str().unwrap().to_owned()), item))
        });
        objects.collect()
    }

    /// Reads what the last writes have left.
    fn look(&mut self, by_manifests: bool) {
        self.look_at(by_manifests, |_| true);
    }

    fn look_at(&mut self, by_manifests: bool, which: impl Fn(&History) -> bool) {
        let objects = self.objects();
        for history in self.histories.iter_mut().filter(|history| which(history)) {
            let key = history.key();
            history.see(&objects[&key], by_manifests);
        }
    }
}

/// The objects of a report, by kind and name.
pub fn by_name(run: &Run) -> BTreeMap<(String, String), &Value> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    run.objects().iter().map(|object| ((text(&object["kind"]), text(&object["name"])), object)).collect()
}

fn path_of(change: &Value) -> FieldPath {
    change["path"].as_str().unwrap().parse().unwrap()
}

/// The change of a report that is at a field, above it or below it, and has a side.
fn sided<'r>(object: &'r Value, path: &FieldPath) -> Option<&'r Value> {
    object["changes"].as_array()?.iter().find(|change| change.get("side").is_some() && path_of(change).overlaps(path))
}

/// How often each side was told without a base, and the sides that are wrong.
#[derive(Default)]
struct Tally {
    seen: AtomicU64,
    either: AtomicU64,
    /// Values that somebody changed and changed back: the cluster without a base, the manifest with one.
    returned: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

impl Tally {
    fn expect(&self, is_right: bool, about: impl FnOnce() -> String) {
        if !is_right {
            self.wrong.lock().unwrap().push(about());
        }
    }
}

/// Runs a test over `SIDE_HISTORIES` histories, or over this number of them, on several threads. The seed of the first is
/// `SIDE_SEED`.
pub fn in_batches(first: u64, usual: u64, test: impl Fn(&Batch) + Sync) {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let count = number("SIDE_HISTORIES").unwrap_or(usual);
    let first = number("SIDE_SEED").unwrap_or(first);
    let together = count.div_ceil(2).clamp(1, TOGETHER);
    let next = AtomicU64::new(0);
    let work = || loop {
        let start = next.fetch_add(together, Ordering::Relaxed);
        if start >= count {
            return;
        }
        let batch = Batch::of(first + start..first + (start + together).min(count));
        test(&batch);
        // The server has addresses for a few hundred Services.
        batch.ws.kubectl(["delete", "services", "--all", "--wait=false"]).exits_with(0);
    };
    thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[expect(clippy::print_stdout, reason = "for those who run many histories, with `--nocapture`")]
#[test]
fn the_side_of_a_random_history_is_never_wrong() {
    let tally = Tally::default();
    in_batches(0, 200, |batch| check(batch, &tally));
    let Tally { seen, either, returned, wrong } = tally;
    let [seen, either, returned] = [seen, either, returned].map(AtomicU64::into_inner);
    println!("{seen} differences, without a base: {either} of an unknown side, {returned} changed and changed back");
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} wrong sides\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

fn check(batch: &Batch, tally: &Tally) {
    let ws = &batch.ws;
    let with = ws.reconcile(["diff", "-f", "new.json", "--base", "old.json"]);
    let without = ws.reconcile(["diff", "-f", "new.json"]);
    for run in [&with, &without] {
        assert!([0, 1].contains(&run.code), "{run}");
    }
    let with = by_name(&with);
    let without = by_name(&without);
    for history in &batch.histories {
        let key = history.key();
        let objects = [with[&key], without[&key]];
        let is_known = |change: &Value| change.get("side").is_none_or(|side| side != "either");
        let is_known = objects[0]["changes"].as_array().unwrap().iter().all(is_known);
        tally.expect(is_known, || {
            format!("an unknown side with a base: {}\n{}", history.about(0, objects[0]), objects[0])
        });
        for number in 0..history.kind.fields.len() {
            check_field(history, number, objects, tally);
        }
    }
}

fn check_field(history: &History, number: usize, objects: [&Value; 2], tally: &Tally) {
    let field = &history.kind.fields[number];
    let [base, live, desired] =
        [&history.base, &history.live, &history.desired].map(|values| field.meaning(values[number].as_ref()));
    let [with, without] = objects.map(|object| sided(object, &field.path()));
    // The order of a list is no matter of one of its items.
    let is_of_order = |change: &&Value| change["op"] == "move";
    if let Some(change) = with.filter(|change| !is_of_order(change)) {
        let expected = match (live == base, desired == base) {
            (true, false) => "manifest",
            (false, true) => "cluster",
            (false, false) => "both",
            (true, true) => "none, as nobody changed it",
        };
        tally.expect(change["side"] == expected, || {
            format!("with a base, not {expected}: {}", history.about(number, objects[0]))
        });
    } else if with.is_none() && history.desired[number].is_some() {
        tally.expect(live == desired, || format!("with a base, not shown: {}", history.about(number, objects[0])));
    }
    let Some(change) = without.filter(|change| !is_of_order(change)) else { return };
    tally.seen.fetch_add(1, Ordering::Relaxed);
    let side = change["side"].as_str().unwrap();
    let is_right = match side {
        // Of an item that the manifest drops, somebody may have taken out a part, which leaves no trace.
        "manifest" => desired != base && (live == base || history.desired[number].is_none() && history.is_part(number)),
        // What was not applied last was put there by somebody else.
        "cluster" => history.is_moved[number] || live != base || history.base[number].is_none(),
        _ => side == "either",
    };
    tally.expect(is_right, || format!("without a base, not {side}: {}", history.about(number, objects[1])));
    tally.either.fetch_add(u64::from(side == "either"), Ordering::Relaxed);
    tally.returned.fetch_add(u64::from(side == "cluster" && live == base), Ordering::Relaxed);
}
