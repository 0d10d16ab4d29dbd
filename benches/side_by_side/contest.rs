//! Runs several programs with the same task, in turn.

use std::ffi::OsStr;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use test_control_plane::{ControlPlane, Relay, Workspace};

use super::OURS;
use super::meter::{Used, measure, processor_time};
use super::table::{Figures, Row, print};

/// A network between client and server.
#[derive(Clone, Copy)]
pub struct Network {
    /// Its name.
    pub name: &'static str,
    /// Delay in each direction.
    pub delay: Duration,
}

/// A command that is ready to run: its input and the cluster are prepared.
pub struct Ready {
    /// Working directory.
    pub workspace: Rc<Workspace>,
    /// Program and arguments. Of the environment of this process, it gets only `PATH`.
    pub command: Command,
    /// True if it may exit with 1, for a difference.
    pub may_differ: bool,
}

impl Ready {
    /// The same with another build of the program.
    fn with_program(mut self, program: &OsStr) -> Self {
        let mut command = Command::new(program);
        command.args(self.command.get_args());
        self.command = command;
        self
    }

    /// Runs it with an API server at this URL.
    pub fn run(self, url: &str) -> Used {
        let Self { workspace: ws, mut command, may_differ } = self;
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", ws.home());
        command.env("KUBECONFIG", ws.through(url).kubeconfig()).current_dir(ws.folder());
        measure(&command, &ws.home(), may_differ)
    }
}

/// One of the programs.
pub struct Entrant<'a> {
    /// Its name.
    pub by: &'static str,
    /// Number of runs after the first one; `None` to leave it out.
    pub rounds: Option<usize>,
    /// Prepares a run.
    pub ready: Box<dyn Fn() -> Ready + 'a>,
}

/// A task for several programs.
pub struct Contest<'a> {
    /// The API server.
    pub plane: &'a ControlPlane,
    /// Number of objects, for the table.
    pub objects: &'a str,
    /// The network between client and server.
    pub network: Network,
    /// Name of the task, for the table.
    pub what: &'a str,
}

/// Measurements of one program.
#[derive(Default)]
struct Measured {
    used: Vec<Used>,
    server: Vec<Duration>,
    requests: u64,
    bytes: u64,
}

impl Contest<'_> {
    /// Runs all programs in turns, and prints their rows. `BENCH_BASELINE` names another build of the program, which takes part.
    pub fn run(&self, entrants: &[Entrant<'_>]) {
        let program = std::env::var_os("BENCH_BASELINE");
        let baseline = program.iter().flat_map(|program| {
            let ours = entrants.iter().filter(|entrant| entrant.by == OURS);
            ours.map(move |Entrant { rounds, ready, .. }| {
                let ready = Box::new(|| ready().with_program(program));
                Entrant { by: "baseline", rounds: *rounds, ready }
            })
        });
        let baseline: Vec<Entrant<'_>> = baseline.collect();
        let entrants: Vec<&Entrant<'_>> = entrants.iter().chain(&baseline).collect();
        let mut all: Vec<Measured> = entrants.iter().map(|_| Measured::default()).collect();
        let most = entrants.iter().filter_map(|entrant| entrant.rounds).max().unwrap_or(0);
        for round in 0..=most {
            for (entrant, measured) in entrants.iter().zip(&mut all) {
                if entrant.rounds.is_some_and(|rounds| round <= rounds) {
                    self.once(round == 0, entrant, measured);
                }
            }
        }
        let times: Vec<_> = all.iter().map(|measured| median(measured.used.iter().map(|used| used.time))).collect();
        let ours = entrants.iter().zip(&times).find_map(|(entrant, time)| (*time).filter(|_| entrant.by == OURS));
        for ((entrant, measured), time) in entrants.iter().zip(&all).zip(times) {
            let ratio = |time: Duration| ours.map(|ours| time.as_secs_f64() / ours.as_secs_f64());
            let figures = time.map(|time| measured.figures(time, ratio(time)));
            let Self { objects, network, what, .. } = self;
            print(&Row { objects, network: network.name, what, by: entrant.by, figures });
        }
    }

    /// Runs one program. Its first run goes through a relay that counts bytes; on loopback the time of that run does not count,
    /// unless it is the only one.
    fn once(&self, is_first: bool, entrant: &Entrant<'_>, measured: &mut Measured) {
        let is_far = !self.network.delay.is_zero();
        let relay = (is_first || is_far).then(|| Relay::new(self.plane.url(), self.network.delay));
        let url = relay.as_ref().map_or_else(|| self.plane.url().to_owned(), Relay::url);
        let ready = (entrant.ready)();
        let pids = self.plane.pids();
        let workspace = Rc::clone(&ready.workspace);
        let ((used, server), requests) = workspace.requests_during(|| {
            let before = processor_time(&pids);
            let used = ready.run(&url);
            (used, processor_time(&pids).saturating_sub(before))
        });
        if is_first {
            (measured.requests, measured.bytes) = (requests.len() as u64, relay.map_or(0, |relay| relay.bytes()));
        }
        if is_far || !is_first || entrant.rounds == Some(0) {
            measured.used.push(used);
            measured.server.push(server);
        }
    }
}

impl Measured {
    fn figures(&self, time: Duration, ratio: Option<f64>) -> Figures {
        Figures {
            time,
            ratio,
            client: median(self.used.iter().map(|used| used.cpu)).unwrap_or_default(),
            server: median(self.server.iter().copied()).unwrap_or_default(),
            requests: self.requests,
            bytes: self.bytes,
            memory: median(self.used.iter().map(|used| used.memory)).unwrap_or_default(),
        }
    }
}

fn median<T: Ord + Copy>(figures: impl Iterator<Item = T>) -> Option<T> {
    let mut figures: Vec<T> = figures.collect();
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied()
}
