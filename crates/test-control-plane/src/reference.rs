//! structured-merge-diff itself, as the API server uses it: the reference for the crate `structured-merge`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::target::target;

/// Sources of the program, in the folder `structured-merge` of this crate.
const SOURCES: [&str; 3] = ["go.mod", "go.sum", "main.go"];

/// The program that applies objects as the API server's field manager does (`structured-merge/main.go`), built once for all test
/// runs. It needs Go and no API server.
#[track_caller]
pub fn structured_merge() -> PathBuf {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build).clone().unwrap_or_else(|error| panic!("{error}"))
}

fn build() -> Result<PathBuf, String> {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("structured-merge");
    let mut hasher = DefaultHasher::new();
    for name in SOURCES {
        fs::read(module.join(name)).map_err(|error| format!("failed to read {name}: {error}"))?.hash(&mut hasher);
    }
    let folder = target().join("structured-merge").join(format!("{:016x}", hasher.finish()));
    let program = folder.join("structured-merge");
    if program.exists() {
        return Ok(program);
    }
    fs::create_dir_all(&folder).map_err(|error| format!("failed to create {}: {error}", folder.display()))?;
    // Two test processes may build it at the same time, each under its own name.
    let unfinished = folder.join(format!("unfinished-{}", std::process::id()));
    let mut go = Command::new("go");
    go.arg("-C").arg(&module).args(["build", "-buildvcs=false", "-o"]).arg(&unfinished).stdin(Stdio::null());
    let output = go.output().map_err(|error| {
        format!("the tests compare with structured-merge-diff: install Go 1.26 or newer (https://go.dev/dl/): {error}")
    })?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        return Err(format!("failed to build structured-merge-diff with Go\n{}", log.trim()));
    }
    fs::rename(&unfinished, &program).map_err(|error| format!("failed to name the program: {error}"))?;
    Ok(program)
}
