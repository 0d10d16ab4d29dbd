//! The decisions of `kubectl reconcile`: which objects differ, who changed them, what an apply would do, and in which order.
//!
//! This crate takes values and returns values. It reads no file, socket, clock or environment variable; the program around it does
//! that and hands in the results. So every decision can be tested with two JSON objects.
//!
//! ```text
//! Input ─manifest::read─▶ Manifest ─live::resolve─▶ Target ─┬─compare─▶ Decision
//!                              Discovery ┘                  │    ▲
//!                                                           │    └ LiveState, answers to dry runs
//!                                                           └─plan─▶ Plan
//! ```
//!
//! # The tour
//!
//! 1. [`manifest`] reads YAML as kubectl does and keeps the position of every field. [`manifest::Manifest`] is the object as it was
//!    written, and [`manifest::DesiredObject`] the object as it is sent.
//! 2. [`live`] reads the documents of the server: [`live::Discovery`] finds the resource of a manifest, which makes it a
//!    [`live::Target`]. [`live::LiveState`] is its object in the cluster: present, absent or unreadable.
//! 3. [`compare`] is the heart. A state machine that sends nothing proves that an object is in sync, or asks for a dry run. From the
//!    answer it derives the differences and the managers that caused them.
//! 4. [`plan`] orders the objects by their dependencies, and lists the permissions that a run needs. [`pass`] has the outcomes of the
//!    objects when it is carried out.
//!
//! Beside these stages are the decisions of single commands: [`pull`] chooses the live values that go into the manifests, [`resolve`]
//! keeps the answers about differences, [`own`] finds the fields that a manager gets, [`blame`] names the owner of each field, and [`audit`] finds the users behind field managers in
//! an audit log.
//!
//! [`effects`] finds what an apply sets off beyond the fields that it writes, from all decisions of a run.
//!
//! Below these stages are [`rules`] (ignore rules and readiness rules), [`request`] (addresses, errors and counts of requests),
//! [`object`] (knowledge about kinds, names and labels), [`owners`] (field managers and the users behind them), [`upgrade`] (versions of APIs that Kubernetes removed), [`diagnostic`] (one type
//! for every error and warning), [`exact`] (reads JSON of others as exactly its types), [`bounded_value`] (bounds the memory of the values in it),
//! [`rare`] (parts that are nearly always empty) and [`text`] (makes untrusted text safe to show).

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]
#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

pub mod audit;
pub mod blame;
pub mod bounded_value;
// Lists of our own are counted with plain arithmetic. Where numbers, sizes and times come from outside, none may overflow.
#[allow(clippy::arithmetic_side_effects, reason = "lists of our own are counted with plain arithmetic")]
pub mod compare;
pub mod diagnostic;
pub mod effects;
pub mod exact;
pub mod live;
pub mod manifest;
pub mod object;
pub mod own;
pub mod owners;
pub mod pass;
#[allow(clippy::arithmetic_side_effects, reason = "lists of our own are counted with plain arithmetic")]
pub mod plan;
pub mod pull;
pub mod rare;
pub mod request;
pub mod resolve;
pub mod rules;
pub mod text;
pub mod upgrade;
