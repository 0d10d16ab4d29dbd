//! The examples, run as they are written.

mod actions;
mod ci;
mod github;
mod jobs;
mod pod;

use std::path::PathBuf;

/// A file or a folder of the project.
pub fn project(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A file or a folder of the examples.
pub fn example(path: &str) -> PathBuf {
    project("examples").join(path)
}
