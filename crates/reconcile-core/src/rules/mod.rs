//! Rules about fields: which differences of which objects to ignore; and about objects: when they are ready.
//!
//! ```text
//! "spec.containers[name=app].image" ─parse─▶ FieldPattern ┐
//! target: {kind: Deployment, …}    ─parse─▶ ObjectPattern ├─▶ IgnoreRule… ─▶ IgnoreRules
//! managers: [some-*]               ─parse─▶ Glob          ┘                      │
//! manifest, live object, type ───────────────────────────────────coverage───────┴─▶ Coverage: path → rule
//! ```
//! Pure and below all stages: the configuration file and the annotation of a manifest are read elsewhere, with their positions; the
//! date comes in as a value. Everything is bounded, as a rule may come from anybody who may propose a change.

mod annotation;
mod autoscaler;
mod built_in;
mod coverage;
mod foreign_paths;
mod glob;
mod matching;
mod object_pattern;
mod parse;
mod pattern;
mod protected;
mod readiness;
mod rule;

pub use annotation::{IGNORE_ANNOTATION, annotated};
pub use autoscaler::{AUTOSCALERS, Autoscaler, Autoscalers};
pub use built_in::BUILT_IN;
pub use coverage::{Coverage, Covered, RuleRef, Subject};
pub use foreign_paths::{jq_path, json_pointer};
pub use glob::{Glob, GlobError};
pub use object_pattern::ObjectPattern;
pub use pattern::{FieldPattern, MAX_PATTERN, PatternError};
pub use readiness::{MAX_READINESS_RULES, ReadinessRule, ReadinessRules};
pub use rule::{IgnoreRule, IgnoreRules, MAX_FIELDS, MAX_RULES};
