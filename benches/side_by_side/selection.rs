//! The rows of the table to print, and the number of runs of each command.

use std::time::Duration;

use super::contest::Network;

/// Numbers of objects.
pub const SIZES: [usize; 3] = [100, 1_000, 10_000];
/// Number of objects of four kinds in 200 namespaces, which take minutes to create: they are measured only if the number is named.
pub const LARGE: usize = 100_000;
/// Networks.
pub const NETWORKS: [Network; 4] = [
    Network { name: "loopback", delay: Duration::ZERO },
    Network { name: "20-ms", delay: Duration::from_millis(10) },
    Network { name: "50-ms", delay: Duration::from_millis(25) },
    Network { name: "100-ms", delay: Duration::from_millis(50) },
];
/// Number of networks with which everything is measured, unless others are named.
const USUAL: usize = 2;
/// The measurement of single requests, which is printed only if it is named.
pub const COSTS: &str = "costs";
/// Tasks with objects in one namespace.
pub const WHAT: [&str; 6] = ["all-new", "in-sync", "no-op-apply", "1%-drifted", "all-drifted", "prune-10%"];
/// Tasks with objects in many namespaces, and beside another client that writes all the time.
pub const SPREAD: [&str; 3] = ["many-namespaces", "one-of-four", "busy"];
/// The programs: kubectl, ours, and the floor.
pub const PROGRAMS: [&str; 3] = ["kubectl", super::OURS, "floor"];

/// kubectl takes minutes for more objects, because it sends its requests one object at a time.
const MOST_FOR_KUBECTL: usize = 1_000;

/// Words of the command line. A row is printed if its size, network, task and program are each named, or nothing of the same sort
/// is named.
pub struct Selection {
    words: Vec<String>,
    most: usize,
}

impl Selection {
    /// The selection that these arguments make; arguments that begin with a dash are Cargo's.
    pub fn of(arguments: impl Iterator<Item = String>) -> Self {
        let words: Vec<String> = arguments.filter(|argument| !argument.starts_with('-')).collect();
        let names =
            NETWORKS.map(|network| network.name).into_iter().chain(WHAT).chain(SPREAD).chain(PROGRAMS).chain([COSTS]);
        let known: Vec<String> =
            SIZES.into_iter().chain([LARGE]).map(|size| size.to_string()).chain(names.map(str::to_owned)).collect();
        for word in &words {
            assert!(known.contains(word), "`{word}` is none of: {}", known.join(", "));
        }
        let most = std::env::var("BENCH_ROUNDS").ok().and_then(|value| value.parse().ok()).unwrap_or(usize::MAX);
        Self { words, most }
    }

    /// Returns true if the costs of single requests are wanted, and no table.
    pub fn wants_costs(&self) -> bool {
        self.types(COSTS)
    }

    /// Returns true if rows with this number of objects are wanted. Rows about spread objects have numbers of their own.
    pub fn wants_size(&self, objects: usize) -> bool {
        if self.types_a_size() { self.types(&objects.to_string()) } else { self.wants_some(&WHAT) }
    }

    /// Returns true if the rows with the most objects are wanted.
    pub fn wants_large(&self) -> bool {
        self.types(&LARGE.to_string())
    }

    /// Returns true if rows of this task are wanted.
    pub fn wants(&self, what: &str) -> bool {
        let is_spread = SPREAD.contains(&what);
        let alike: &[&str] = if is_spread { &SPREAD } else { &WHAT };
        let by_itself = self.types_one_of(alike) || is_spread && self.types_a_size();
        if by_itself { self.types(what) } else { self.wants_some(alike) }
    }

    /// Returns true if one of these tasks is named, or no task is.
    fn wants_some(&self, names: &[&str]) -> bool {
        self.types_one_of(names) || !(self.types_one_of(&WHAT) || self.types_one_of(&SPREAD))
    }

    fn types(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name)
    }

    fn types_a_size(&self) -> bool {
        SIZES.iter().chain(&[LARGE]).any(|size| self.types(&size.to_string()))
    }

    /// The networks that are wanted.
    pub fn networks(&self) -> impl Iterator<Item = Network> {
        let usual = if self.types_one_of(&NETWORKS.map(|network| network.name)) { 0 } else { USUAL };
        let wanted = move |(index, network): &(usize, Network)| *index < usual || self.types(network.name);
        NETWORKS.into_iter().enumerate().filter(wanted).map(|(_, network)| network)
    }

    /// Number of runs of a program after the first one; `None` if it does not run.
    pub fn rounds(&self, by: &str, objects: usize, network: Network, is_repeatable: bool) -> Option<usize> {
        if self.types_one_of(&PROGRAMS) && !self.types(by) {
            return None;
        }
        let is_far = !network.delay.is_zero();
        let rounds = match (by, objects) {
            ("kubectl", MOST_FOR_KUBECTL..) if objects > MOST_FOR_KUBECTL => return None,
            ("kubectl", _) if is_far => 0,
            ("kubectl", 1_000..) => 1,
            ("kubectl", _) => 3,
            (_, LARGE..) if is_repeatable => 2,
            (_, LARGE..) => 0,
            (_, 10_000..) if is_repeatable => 5,
            (_, 10_000..) => 1,
            _ if is_repeatable => 9,
            _ => 3,
        };
        Some(rounds.min(self.most))
    }

    fn types_one_of(&self, names: &[&str]) -> bool {
        self.words.iter().any(|word| names.contains(&word.as_str()))
    }
}
