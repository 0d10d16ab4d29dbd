//! What the scenarios do not demand yet, in one place.

/// Files of the sets that are left out: custom resources with fields that have no value where the schema wants an object.
pub const WITHHELD: &[&str] = &[];

/// Files that are left out where kubectl applied the set first: a Pod that takes its requests from a limit range.
pub const NOT_ADOPTED: &[&str] = &["test-connection.yaml"];

/// How many of 1000 objects are proven in sync right after they were applied, at least. The target is 995; fields of built-in
/// types without a value are what is asked about.
pub const PROVEN_OF_THOUSAND: usize = 995;

/// Whether a port that was renumbered by hand heals.
pub const RENUMBERED_PORTS_HEAL: bool = true;

/// Whether each change names its owner where the API server records one.
pub const OWNERS_ARE_ALWAYS_NAMED: bool = true;

/// Paths that may be reported beside a change of something else, as the server moves them along.
pub const MOVED_ALONG: &[&str] = &[];
