//! The browser and what drives it: installed from the npm registry once for all test runs, as `tests/browser/package-lock.json`
//! has them, with their checksums.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MISSING_NODE: &str =
    "the test of the HTML report needs Node.js 20 or newer with npm: https://nodejs.org/en/download";
const NO_BROWSER: &str = "the test of the HTML report brings a browser for Linux on x86-64 only: set CHROMIUM to the path of a Chromium or Chrome";
const FILES: [&str; 3] = ["package.json", "package-lock.json", "unpack.mjs"];

/// The folder with the modules and the browser.
pub fn installed() -> Result<PathBuf, String> {
    if std::env::var_os("CHROMIUM").is_none() && !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(NO_BROWSER.to_owned());
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let mut hasher = DefaultHasher::new();
    for name in FILES {
        fs::read(source.join(name))
            .map_err(|error| format!("failed to read tests/browser/{name}: {error}"))?
            .hash(&mut hasher);
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("the target folder has no parent")?;
    let cache = target.join("browser");
    let folder = cache.join(format!("{:016x}", hasher.finish()));
    let failed = |error: io::Error| format!("failed to prepare {}: {error}", cache.display());
    fs::create_dir_all(&cache).map_err(failed)?;
    let lock = File::create(cache.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if !folder.exists() {
        let unfinished = cache.join("unfinished");
        let _ = fs::remove_dir_all(&unfinished);
        fs::create_dir(&unfinished).map_err(failed)?;
        for name in FILES {
            fs::copy(source.join(name), unfinished.join(name)).map_err(failed)?;
        }
        let _ = writeln!(io::stderr(), "browser: installing what tests/browser/package-lock.json names, once");
        run("npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], &unfinished)?;
        run("node", &["unpack.mjs", "."], &unfinished)?;
        fs::rename(&unfinished, &folder).map_err(failed)?;
    }
    Ok(folder)
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => MISSING_NODE.to_owned(),
        _ => format!("failed to run `{program}`: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("`{program} {}` failed: {}", arguments.join(" "), said.trim()))
}
