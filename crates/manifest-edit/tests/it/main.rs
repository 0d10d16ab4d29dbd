//! Edits of manifests in all styles of YAML and JSON.

mod examples;
mod law;
mod refusals;
mod support;
mod writer;
