//! Cargo's target folder, found by a test or bench that runs from it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Cargo writes this file into the target folder.
const TAG: &str = "CACHEDIR.TAG";

/// The target folder: the test is a program in it.
pub fn target() -> &'static Path {
    static TARGET: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = running();
        let found = test.ancestors().find(|folder| folder.join(TAG).is_file());
        found.unwrap_or_else(|| panic!("{} is not in a target folder of Cargo", test.display())).to_owned()
    });
    &TARGET
}

/// The folder for data of one test run.
pub fn scratch() -> PathBuf {
    let scratch = target().join("tmp");
    fs::create_dir_all(&scratch).expect("a folder in the target folder");
    scratch
}

/// A program of the package under test, which Cargo builds before its tests and benches. It is in the parent of their
/// folder.
pub fn program(name: &str) -> PathBuf {
    let test = running();
    let profile = test.parent().and_then(Path::parent).expect("tests are in a folder of a profile");
    profile.join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

fn running() -> PathBuf {
    env::current_exe().expect("the path of the test")
}
