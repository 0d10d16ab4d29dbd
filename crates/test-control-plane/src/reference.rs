//! Programs of others as references, each built from a small Go module in a folder of this crate. They need Go and no API server.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::target::target;

/// Sources of each program.
const SOURCES: [&str; 3] = ["go.mod", "go.sum", "main.go"];

/// The program that applies objects as the API server's field manager does (`structured-merge/main.go`), built once for all test
/// runs: structured-merge-diff itself is the reference for the crate `structured-merge`.
#[track_caller]
pub fn structured_merge() -> PathBuf {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(|| build("structured-merge")).clone().unwrap_or_else(|error| panic!("{error}"))
}

/// The script of `kubectl completion bash` before kubectl 1.34 (`completion/main.go`): it expands the candidates.
#[track_caller]
pub fn expanding_completion() -> String {
    let program = build("completion").unwrap_or_else(|error| panic!("{error}"));
    let output = Command::new(program).stdin(Stdio::null()).output().expect("a program that was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a script")
}

fn build(name: &str) -> Result<PathBuf, String> {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let mut hasher = DefaultHasher::new();
    for file in SOURCES {
        fs::read(module.join(file)).map_err(|error| format!("failed to read {file}: {error}"))?.hash(&mut hasher);
    }
    let folder = target().join(name).join(format!("{:016x}", hasher.finish()));
    let program = folder.join(name);
    if program.exists() {
        return Ok(program);
    }
    fs::create_dir_all(&folder).map_err(|error| format!("failed to create {}: {error}", folder.display()))?;
    // Two test processes may build it at the same time, each under its own name.
    let unfinished = folder.join(format!("unfinished-{}", std::process::id()));
    let mut go = Command::new("go");
    go.arg("-C").arg(&module).args(["build", "-buildvcs=false", "-o"]).arg(&unfinished).stdin(Stdio::null());
    let output = go.output().map_err(|error| {
        format!("the tests compare with `{name}`: install Go 1.26 or newer (https://go.dev/dl/): {error}")
    })?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        return Err(format!("failed to build `{name}` with Go\n{}", log.trim()));
    }
    fs::rename(&unfinished, &program).map_err(|error| format!("failed to name the program: {error}"))?;
    Ok(program)
}
