//! A long time on a cluster that never rests: controllers and people write at random, all commands that compare or act run in turn and are
//! stopped at random, and each verdict is compared with the server's own answer. While nobody else writes, the laws of `pull`, `blame`,
//! saved plans and baselines are checked.
//!
//! `just soak` runs it for half an hour; `SOAK_SECONDS` and `SOAK_SEED` choose how long, and what happens.

mod answers;
mod checks;
mod laws;
mod probe;
mod process;
mod tally;
mod truth;
mod who;
mod world;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::sync::RwLock;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use structured_merge::managed_fields;

use crate::control_plane::Rng;
use crate::generated::wait_for;
use process::{Call, Command, Ended};
use tally::Tally;
use who::Writes;
use world::{FOLDERS, World, is_terminating};
use writers::Gate;

const OURS: &str = "kubectl-reconcile";
const WRITERS: u64 = 3;
/// When a call is stopped, as a part of the time that such a call takes.
const MOMENTS: [f64; 12] = [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// What runs while others write.
const COMMANDS: [Command; 9] = [
    Command::Diff,
    Command::Apply,
    Command::Diff,
    Command::Status,
    Command::Pull,
    Command::Apply,
    Command::Blame,
    Command::LastApplied,
    Command::Resolve,
];
/// How often the cluster is looked at until it rests.
const LOOKS: usize = 20;

#[test]
fn every_verdict_is_true_in_a_short_soak() {
    soak(Duration::from_secs(20), 1, 1);
}

#[test]
#[ignore = "runs for half an hour: `just soak`"]
fn every_verdict_is_true_in_a_long_soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("SOAK_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    soak(Duration::from_secs(number("SOAK_SECONDS").unwrap_or(1800)), seed, 2);
}

fn soak(length: Duration, seed: u64, variants: usize) {
    let _ = writeln!(stdout(), "SOAK_SEED={seed}");
    let world = World::new(seed, variants);
    for folder in FOLDERS {
        world.copy(folder, answers::moving_copy(folder));
    }
    let world = RwLock::new(world);
    let gate = Gate::default();
    let deadline = Instant::now() + length;
    let mut soak =
        Soak { world: &world, rng: Rng::new(seed), tally: Tally::default(), took: BTreeMap::new(), turn: 0, log: 0 };
    thread::scope(|scope| {
        for writer in 1..=WRITERS {
            let world = &world;
            let gate = &gate;
            let rng = Rng::new(seed ^ (writer << 32));
            scope.spawn(move || writers::write(world, gate, rng));
        }
        let _ends = EndsWithIt(&gate);
        while Instant::now() < deadline {
            soak.storm(if length > Duration::from_mins(1) { 12 } else { 6 });
            soak.calm();
        }
    });
    let Soak { mut tally, .. } = soak;
    tally.add("writes of others", gate.writes.load(Ordering::Relaxed));
    tally.report(seed);
}

/// Ends the writers, also when the soak fails.
struct EndsWithIt<'a>(&'a Gate);

impl Drop for EndsWithIt<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

struct Soak<'a> {
    world: &'a RwLock<World>,
    rng: Rng,
    tally: Tally,
    /// How long the last call of each name took, for the moment at which the next one is stopped.
    took: BTreeMap<String, Duration>,
    turn: usize,
    /// Where the part of the audit log begins that nobody has read yet.
    log: u64,
}

impl Soak<'_> {
    /// Calls in turn, while others write.
    fn storm(&mut self, calls: usize) {
        for _ in 0..calls {
            let world = self.world.read().expect("no writer has failed");
            let command = COMMANDS[self.turn % COMMANDS.len()];
            let folder = FOLDERS[self.turn / COMMANDS.len() % 2];
            let mut call = Call::random(command, folder, &mut self.rng);
            if command == Command::Diff && self.rng.chance(30) {
                call = call.with(laws::files_of(&world, folder, &mut self.rng));
            }
            if [Command::Diff, Command::Blame].contains(&command) && self.rng.chance(30) && self.log > 0 {
                call = call.with(&[who::FLAG]);
            }
            self.turn += 1;
            let moment = self.took.get(&call.name()).filter(|_| self.rng.chance(30));
            let moment = moment.map(|whole| whole.mul_f64(*self.rng.pick(&MOMENTS)));
            let is_watched = command == Command::Diff && moment.is_none();
            let before = if is_watched { world.live() } else { Vec::new() };
            let ended = call.run_until(&world, moment, &mut self.rng);
            self.note(&world, &call, &ended);
            if command == Command::Resolve {
                answers::files_are_whole(&world, answers::moving_copy(folder), &mut self.tally);
            }
            if is_watched {
                checks::verdicts_hold(&world, &call, &ended, &before, &mut self.tally);
                checks::prunes_hold(&world, &call, &ended, &before, &mut self.tally);
            }
        }
    }

    /// Nobody else writes: what is said has to be true of every object, and an apply has to be final.
    fn calm(&mut self) {
        let mut world = self.world.write().expect("no writer has failed");
        self.tally.count("cycles");
        rest(&world);
        let (writes, log) = Writes::since(&world, self.log);
        self.log = log;
        for folder in FOLDERS {
            self.diff(&world, folder);
            who::who_did_it_is_true(&world, folder, &writes, &mut self.tally);
            laws::hold(&world, folder, &mut self.rng, &mut self.tally);
            answers::what_is_resolved_differs_no_more(&world, folder, &mut self.rng, &mut self.tally);
            self.applies(&world, folder);
        }
        world.advance(&mut self.rng);
        for folder in FOLDERS {
            world.copy(folder, answers::moving_copy(folder));
        }
        self.tally.kept(files_in(&world.ws.home()));
    }

    fn diff(&mut self, world: &World, folder: &'static str) -> Ended {
        let before = world.live();
        let call = Call::random(Command::Diff, folder, &mut self.rng);
        let ended = call.run(world);
        self.note(world, &call, &ended);
        checks::verdicts_hold(world, &call, &ended, &before, &mut self.tally);
        checks::prunes_hold(world, &call, &ended, &before, &mut self.tally);
        ended
    }

    /// An apply, the one after it, which has nothing to do, and a diff, which shows nothing.
    fn applies(&mut self, world: &World, folder: &'static str) {
        wait_for(writers::tidy_up(world, &mut self.rng));
        let call = Call::random(Command::Apply, folder, &mut self.rng);
        let first_live = world.live();
        let ((first, second_live, second), requests) = world.ws.all_requests_during(|| {
            let first = call.run(world);
            self.note(world, &call, &first);
            rest(world);
            let between = world.live();
            (first, between, call.run(world))
        });
        self.note(world, &call, &second);
        let touched = checks::touched_by_others(world, &requests);
        let written = self.is_final(world, &first_live, &second, &touched);
        for (at, item) in world.items.iter().enumerate().filter(|(_, item)| written.contains(&item.path())) {
            let in_first = checks::objects(&first).into_iter().find(|object| item.is_called(object));
            self.tally.fail(format!(
                "{}: manifest {}\nbefore {:?}\nfirst {:?}\nbetween {:?}\n{}",
                item.target.key,
                world.wanted(item),
                first_live[at].as_ref().map(Value::to_string),
                in_first.map(|object| object.to_string()),
                second_live[at].as_ref().map(Value::to_string),
                first.run.command,
            ));
        }
        let before = world.live();
        let call = call.diff();
        let third = call.run(world);
        self.note(world, &call, &third);
        checks::verdicts_hold(world, &call, &third, &before, &mut self.tally);
    }

    /// The second apply wrote to nothing that others left alone since the first.
    fn is_final(
        &mut self,
        world: &World,
        before: &[Option<Value>],
        second: &Ended,
        touched: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let mut written = BTreeSet::new();
        let objects = checks::objects(second);
        self.tally.count("second applies");
        for write in checks::ours(world, &second.requests).filter(|request| request.is_write()) {
            let path = checks::path_of(&write.uri);
            let item = world.items.iter().find(|item| item.path() == path);
            let object = item.and_then(|item| objects.iter().find(|object| item.is_called(object)));
            let was = |is: fn(&Value) -> bool| {
                let mut items = world.items.iter().zip(before).filter(|(item, _)| item.path() == path);
                items.any(|(_, live)| live.as_ref().is_some_and(is))
            };
            let was_unrecorded = was(|live| managed_fields(live).is_empty());
            // What is refused only after claims have passed goes back: that is two writes more.
            let is_refused = object.is_some_and(|object| object["outcome"] == "failed")
                && (write.code == 422
                    || write.code == 409 && was_unrecorded
                    || object.is_some_and(|object| object["error"]["reason"] == "Invalid"));
            if is_refused {
                self.tally.count("second writes, refused again");
            } else if touched.contains(path) {
                self.tally.count("second writes, after others");
            } else if was(is_terminating) {
                self.tally.count("second writes, of what was being deleted");
            } else if object.is_some_and(checks::is_about_emptiness) {
                self.tally.count("second writes, of what is empty");
            } else {
                let object = object.unwrap_or(&Value::Null);
                self.tally.fail(format!("a second write: {} {}: {object}", write.verb, write.uri));
                written.insert(path.to_owned());
            }
        }
        written
    }

    fn note(&mut self, world: &World, call: &Call, ended: &Ended) {
        self.tally.count(&format!("{} with {}", call.name(), ended.run.code));
        checks::ended_well(world, call, ended, &mut self.tally);
        if !ended.was_stopped {
            self.took.insert(call.name(), ended.took);
            self.tally.used(call.name(), ended);
        }
    }
}

/// How many files the program keeps: what the tests put there themselves is at the top.
fn files_in(home: &Path) -> usize {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().collect::<Vec<_>>();
    let mut folders: Vec<_> = entries(home).into_iter().filter(|entry| entry.path().is_dir()).collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let (inner, found): (Vec<_>, Vec<_>) = entries(&folder.path()).into_iter().partition(|e| e.path().is_dir());
        folders.extend(inner);
        files += found.len();
    }
    files
}

/// Waits until the controllers have done what they had to, or for a while.
fn rest(world: &World) {
    let versions = || -> Vec<Option<Value>> {
        let versions = world.live().into_iter().flatten();
        versions.map(|live| live.pointer("/metadata/resourceVersion").cloned()).collect()
    };
    let mut last = versions();
    for _ in 0..LOOKS {
        thread::sleep(Duration::from_millis(250));
        let now = versions();
        if now == last {
            return;
        }
        last = now;
    }
}
