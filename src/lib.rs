//! `kubectl reconcile` runs the reconcile loop exactly once: read desired, read current, compare, decide, act,
//! observe, report.
//!
//! ```text
//! PATH… ─desired─▶ DesiredSet ─live─▶ Target, LiveState ─compare─▶ ObjectDiff ─plan─▶ Plan ─engine─▶ Event… ─report─▶ bytes + exit code
//! ```
//!
//! # The tour
//!
//! 1. [`desired`] finds the files, reads YAML as kubectl reads it and keeps the place of every field.
//! 2. [`live`] asks which resources there are, and reads the objects: one LIST for each resource and namespace.
//! 3. [`compare`] *proves* from the live object alone that an apply would change nothing, or says what to *ask*; from the
//!    server's answer it tells what differs, and whose doing that is. Secret values become numbers here.
//! 4. [`plan`] puts objects into the order in which they can be written, and tells which members of an apply set go.
//! 5. [`engine`] judges every object, writes under a lock on the version that was judged, and judges again when the object changed
//!    in the meantime. It emits events: the screen shows them, and a builder folds them into the report.
//! 6. [`engine::wait`] follows the objects until they are ready: rules that only compute, and the watches that feed them.
//! 7. [`report`] is one model and a file for each format that shows it.
//!
//! Below them: [`text`], which makes texts of others fit to be shown, [`object`], the vocabulary of all stages (keys, field
//! paths, field sets, quantities), and [`schema`], the API's types as a compact table. At the edges: [`client`] (kubeconfig,
//! transport, retries), [`program`] (where others' programs are) and [`terminal`] (the only door to stdout and stderr). On top:
//! [`cli`], what can be typed, and [`commands`], one file for each command.
//!
//! `text`, `object`, `schema`, `compare`, `plan`, `report`, the parsing in `desired` and the rules in `wait` are pure; imports point
//! one way. A test keeps it so.
//!
//! # Exit codes
//!
//! | code | constant | meaning |
//! | --- | --- | --- |
//! | 0 | [`report::EXIT_SUCCESS`] | in sync, or the pass is complete, or all is ready |
//! | 1 | [`report::EXIT_DRIFT`] | `diff` found drift |
//! | 2 | [`report::EXIT_INVALID`] | usage or configuration error, or input that can't be read |
//! | 3 | [`report::EXIT_UNREACHABLE`] | no cluster |
//! | 4 | [`report::EXIT_INCOMPLETE`] | something could not be compared or applied; the rest was |
//! | 5 | [`report::EXIT_NOT_READY`] | applied, but not ready; or not ready (`status`) |
//! | 130 | [`report::EXIT_INTERRUPTED`] | interrupted |

pub mod cli;
pub mod client;
pub mod commands;
pub mod compare;
mod config;
pub mod desired;
pub mod diagnostic;
pub mod engine;
pub mod live;
pub mod object;
pub mod plan;
pub mod program;
pub mod report;
pub mod schema;
mod session;
pub mod terminal;
pub mod text;
