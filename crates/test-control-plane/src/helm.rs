//! Helm itself as the reference for what it records and refuses: Helm 3 and Helm 4, each built from its Go module once for all test
//! runs, beside the control plane. Only tests that need them build them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::target::target;

/// The program of this major version, 3 or 4.
pub(super) fn helm(major: u32) -> PathBuf {
    static BUILT: [OnceLock<Result<PathBuf, String>>; 2] = [const { OnceLock::new() }; 2];
    let at = usize::from(major != 3);
    BUILT[at].get_or_init(|| build(major)).clone().unwrap_or_else(|error| panic!("{error}"))
}

fn build(major: u32) -> Result<PathBuf, String> {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("helm").join(major.to_string());
    let go_mod =
        fs::read_to_string(module.join("go.mod")).map_err(|error| format!("failed to read go.mod: {error}"))?;
    let required = format!("helm.sh/helm/v{major} ");
    let version = go_mod.lines().find_map(|line| line.trim().strip_prefix(&required)?.split(' ').next());
    let version = version.ok_or_else(|| format!("{} does not require Helm", module.display()))?;
    let cache = target().join("control-plane");
    let folder = cache.join(format!("helm-{version}"));
    let failed = |error: std::io::Error| format!("failed to prepare {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    // Several test processes build it once. The lock is released with the file.
    let lock = File::create(folder.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let program = folder.join("helm");
    if program.exists() {
        return Ok(program);
    }
    let unfinished = folder.join("unfinished");
    let mut go = Command::new("go");
    go.arg("-C").arg(&module).args(["build", "-buildvcs=false", "-ldflags", "-s -w", "-o"]).arg(&unfinished);
    go.arg(format!("helm.sh/helm/v{major}/cmd/helm")).stdin(Stdio::null());
    let output = go.output().map_err(|error| {
        format!("the tests run Helm {major}: install Go 1.26 or newer (https://go.dev/dl/): {error}")
    })?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        return Err(format!("failed to build Helm {major} with Go\n{}", log.trim()));
    }
    fs::rename(&unfinished, &program).map_err(failed)?;
    Ok(program)
}
