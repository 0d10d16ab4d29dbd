//! Ignore rules, which name fields whose differences are ignored, and readiness rules, which say if an object is ready.
//!
//! ```text
//! "spec.containers[name=app].image" ─parse─▶ FieldPattern ┐
//! target: {kind: Deployment, …}    ─parse─▶ ObjectPattern ├─▶ IgnoreRule… ─▶ IgnoreRules
//! managers: [some-*]               ─parse─▶ Glob          ┘                      │
//! manifest, live object, type ───────────────────────────────────coverage───────┴─▶ Coverage: path → rule
//! ```
//! The rules have the keys of the configuration file, and the descriptions that its JSON Schema shows: it is derived from them, as is
//! `config view`.
//!
//! This is below all stages. Other modules read the configuration file and the annotation of a manifest, with their positions, and
//! pass in the date. Everything is bounded, because a rule may come from anybody who may propose a change.

mod autoscaler;
mod built_in;
mod coverage;
mod foreign_paths;
mod glob;
mod matching;
mod parse;
mod pattern;
mod readiness;
mod rule;

pub use autoscaler::{AUTOSCALER_FIELDS, AUTOSCALERS, Autoscaler, Autoscalers, Workload, workload};
pub use built_in::BUILT_IN;
pub use coverage::{Coverage, Covered, CoveredObject, RuleRef};
pub use foreign_paths::{jq_path, json_pointer};
pub use glob::{Glob, MAX_NAME, NAME_PATTERN};
pub use parse::{IGNORE_ANNOTATION, annotated};
pub use pattern::{FieldPattern, MAX_PATTERN, PatternError};
pub use readiness::{MAX_READINESS_RULES, ReadinessRule, ReadinessRules};
pub use rule::{IgnoreRule, IgnoreRules, MAX_FIELDS, MAX_REASON, MAX_RULES, ObjectPattern};
