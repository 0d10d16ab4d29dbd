//! `kubectl reconcile` runs the reconcile loop exactly once: read desired, read current, compare, decide, act,
//! observe, report.
//!
//! ```text
//! PATH… ─desired─▶ DesiredSet ─live─▶ Target, LiveState ─compare─▶ Decision ─plan─▶ Plan ─engine─▶ Event… ─report─▶ bytes + exit code
//! ```
//!
//! # The tour
//!
//! 1. [`desired`] finds and reads the files; [`reconcile_core::manifest`] reads YAML as kubectl does and keeps the position of every field.
//! 2. [`live`] discovers the resources of the server and reads the objects, with one LIST per resource and namespace.
//! 3. [`reconcile_core::compare`] *proves* from the live object alone that an apply would change nothing, or says what to *ask* the
//!    server. From the answer it derives what differs and which manager changed it. Values of Secrets become numbers here.
//! 4. [`reconcile_core::plan`] orders the objects so that each is written after what it needs, and the members of an apply set so that
//!    each is deleted before it.
//! 5. [`engine`] compares every object, writes it under a lock on the version that was compared, and compares again if the object has
//!    changed. It prunes the members of an apply set, as the crate [`apply_set`] decides. It emits events: the screen shows them, and a
//!    builder folds them into the report.
//! 6. `engine::wait` follows the objects until they are ready. The readiness rules are in the crate `kstatus`.
//! 7. [`reconcile_report`] is one model, its words, and a table of formats that show it.
//!
//! The crates decide and describe: they are pure, and their manifests keep them so. Below [`reconcile_core`] are [`structured_merge`] (field
//! paths, field sets, the types of the API, merging and proving), `kube-yaml`, `manifest-edit`, `kstatus`, `bounded-cel` and `apply-set`. This crate touches
//! the world. At its edges are [`client`] (kubeconfig, credentials, and kube for the requests), `program` (finds other programs)
//! and [`terminal`] (the only door to stdout and stderr). [`cli`] has the flags that commands share,
//! and on top are [`commands`], each with its own flags in one place. What they share of a run is in `run`, and how it is shown and written in
//! `output`. Imports point one way. `docs/architecture.md` follows one object through all of them.
//!
//! # Exit codes
//!
//! | code | constant | meaning |
//! | --- | --- | --- |
//! | 0 | [`reconcile_report::EXIT_SUCCESS`] | in sync, or everything done |
//! | 1 | [`reconcile_report::EXIT_DRIFT`] | drift, or something to do |
//! | 2 | [`reconcile_report::EXIT_INVALID`] | invalid flags, configuration or input |
//! | 3 | [`reconcile_report::EXIT_UNREACHABLE`] | the cluster cannot be reached, or rejected the credentials |
//! | 4 | [`reconcile_report::EXIT_INCOMPLETE`] | incomplete: at least one object could not be compared or applied; the others were |
//! | 5 | [`reconcile_report::EXIT_NOT_READY`] | applied, but not ready; or not ready (`status`) |
//! | 130 | [`reconcile_report::EXIT_INTERRUPTED`] | interrupted; the report shows what was done |
//! | 101 | | a bug: the program panicked ([`terminal::report_panics`]) |

#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

mod bounded;
// Where what others wrote is read, no index, sum or size of theirs may end the program; lists of our own are counted plainly.
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub mod cli;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
pub mod client;
pub mod commands;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
mod config;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
pub mod desired;
pub mod engine;
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
pub mod live;
mod output;
mod private_folder;
mod program;
#[doc(hidden)]
pub mod readers;
mod run;
pub mod terminal;
mod work_tree;
