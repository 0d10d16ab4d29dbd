//! The programs of the control plane: from a given folder, or built from the pinned Kubernetes sources.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::component::Component;
use super::target::target;

/// Programs that an API server needs; by convention, the contents of `KUBEBUILDER_ASSETS`.
const SERVER: [&str; 3] = ["etcd", "kube-apiserver", "kubectl"];
/// Further programs, with which Deployments become ready.
const NODES: [&str; 4] = ["kube-controller-manager", "kube-scheduler", "kwok", STAGES];
/// The folder of kwok's stage files, which define the life cycle of fake nodes and Pods.
const STAGES: &str = "kwok-stages";
const STAGE_SOURCES: [&str; 3] = ["node/fast", "node/heartbeat", "pod/fast"];
/// Environment variable for the version of Kubernetes to build instead of the newest, such as `1.30`: a folder of
/// `versions`.
const OTHER_VERSION: &str = "TEST_KUBERNETES";
/// Increases when the contents of a built folder change for the same versions.
const RECIPE: u32 = 2;
const KUBECTL: &str = "k8s.io/kubernetes/cmd/kubectl";

const MISSING_GO: &str = "the tests need a real Kubernetes API server: install Go 1.26 or newer (https://go.dev/dl/), \
    or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl";

/// Returns true if the tests run against a version of Kubernetes before `1.minor`, and prints `what` differs there.
pub fn is_before(minor: u32, what: &str) -> bool {
    let version = env::var(OTHER_VERSION).unwrap_or_default();
    let is_before = version.strip_prefix("1.").and_then(|own| own.parse().ok()).is_some_and(|own: u32| own < minor);
    if is_before {
        eprintln!("not tested on Kubernetes {version}: {what}");
    }
    is_before
}

/// A folder with the programs of a control plane.
#[derive(Debug)]
pub struct Binaries(PathBuf);

impl Binaries {
    /// The programs of an API server: from `KUBEBUILDER_ASSETS`, or built once for all test runs.
    pub fn server() -> Result<&'static Binaries, String> {
        static FOUND: OnceLock<Result<Binaries, String>> = OnceLock::new();
        FOUND.get_or_init(|| find(&SERVER)).as_ref().map_err(Clone::clone)
    }

    /// The programs of a whole control plane; built unless `KUBEBUILDER_ASSETS` has all of them.
    pub fn full() -> Result<&'static Binaries, String> {
        static FOUND: OnceLock<Result<Binaries, String>> = OnceLock::new();
        let all = || find(&[&SERVER[..], &NODES[..]].concat());
        FOUND.get_or_init(all).as_ref().map_err(Clone::clone)
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The stage files for `kwok --config`.
    pub fn kwok_stages(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join(STAGES)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn holds(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.program(name).exists())
    }
}

fn find(names: &[&str]) -> Result<Binaries, String> {
    let assets = env::var_os("KUBEBUILDER_ASSETS").filter(|_| env::var_os(OTHER_VERSION).is_none());
    let Some(assets) = assets else { return built() };
    let given = Binaries(PathBuf::from(assets));
    if given.holds(names) {
        return Ok(given);
    }
    if given.holds(&SERVER) {
        return built();
    }
    Err(format!("KUBEBUILDER_ASSETS is {}, where etcd, kube-apiserver or kubectl is missing", given.0.display()))
}

/// The folder of the build, which is built now unless an earlier run has done so.
fn built() -> Result<Binaries, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(|| build_once(&Sources::chosen()?)).clone().map(Binaries)
}

/// The Go modules that declare the programs.
struct Sources {
    /// Declares all programs in the newest version.
    newest: PathBuf,
    /// Declares the programs of another version of Kubernetes. etcd, kwok and the kubectl of the comparisons are always
    /// the newest.
    other: Option<PathBuf>,
}

impl Sources {
    /// The sources that `TEST_KUBERNETES` selects.
    fn chosen() -> Result<Self, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let newest = here.join("go");
        let Some(version) = env::var_os(OTHER_VERSION) else { return Ok(Self { newest, other: None }) };
        let other = here.join("versions").join(&version);
        if !other.join("go.mod").exists() {
            let known = fs::read_dir(here.join("versions")).into_iter().flatten().flatten();
            let known: BTreeSet<String> = known.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(format!("{OTHER_VERSION} is {}: use one of {known}", version.display()));
        }
        Ok(Self { newest, other: Some(other) })
    }

    /// Builds all programs into `folder`.
    fn build(&self, folder: &Path) -> Result<(), String> {
        match &self.other {
            None => build(&self.newest, &["tool"], folder)?,
            Some(other) => {
                build(other, &["tool"], folder)?;
                build(&self.newest, &["go.etcd.io/etcd/server/v3", "sigs.k8s.io/kwok/cmd/kwok", KUBECTL], folder)?;
            }
        }
        copy_stages(&self.newest, &folder.join(STAGES))?;
        // Go names a program after the last element of its import path, which for etcd is `server`.
        fs::rename(folder.join("server"), folder.join("etcd")).map_err(|error| format!("failed to name etcd: {error}"))
    }

    /// Hash of the sources of the programs.
    fn hash(&self) -> Result<u64, String> {
        let mut hasher = DefaultHasher::new();
        RECIPE.hash(&mut hasher);
        for module in [Some(&self.newest), self.other.as_ref()].into_iter().flatten() {
            (read(module, "go.mod")?, read(module, "go.sum")?).hash(&mut hasher);
        }
        Ok(hasher.finish())
    }
}

fn read(module: &Path, name: &str) -> Result<String, String> {
    let path = module.join(name);
    fs::read_to_string(&path).map_err(|error| format!("failed to read {}: {error}", path.display()))
}

fn build_once(sources: &Sources) -> Result<PathBuf, String> {
    let cache = target().join("control-plane");
    let folder = cache.join(format!("{:016x}", sources.hash()?));
    let failed = |error: io::Error| format!("failed to prepare {}: {error}", cache.display());
    fs::create_dir_all(&cache).map_err(failed)?;
    let lock = File::create(cache.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            say("waiting for another test process that builds it");
            lock.lock().map_err(failed)?;
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    if !folder.exists() {
        let unfinished = cache.join("unfinished");
        let _ = fs::remove_dir_all(&unfinished);
        sources.build(&unfinished)?;
        fs::rename(&unfinished, &folder).map_err(failed)?;
    }
    Ok(folder)
}

/// The version in `k8s.io/kubernetes v1.37.2` of `go.mod`. The programs report it as their own version, which a build
/// from sources does not have.
fn kubernetes_version(module: &Path) -> Result<String, String> {
    let go_mod = read(module, "go.mod")?;
    let mut words = go_mod.lines().map(|line| line.trim().trim_start_matches("require ").split(' '));
    let version = words.find_map(|mut line| (line.next() == Some("k8s.io/kubernetes")).then(|| line.next()).flatten());
    version.map(str::to_owned).ok_or_else(|| format!("{} does not require k8s.io/kubernetes", module.display()))
}

/// Builds programs of a module, by their import paths or as its tools.
fn build(module: &Path, programs: &[&str], folder: &Path) -> Result<(), String> {
    let Ok(go) = go(&["env", "GOVERSION"], module) else { return Err(MISSING_GO.to_owned()) };
    let version = kubernetes_version(module)?;
    say(&format!(
        "building Kubernetes {version} for the tests with {go}: about 8 minutes the first time, half a minute when Go has it cached"
    ));
    let variable = |name: &str, value: &str| format!("-X k8s.io/component-base/version.{name}={value}");
    let mut numbers = version.trim_start_matches('v').split('.');
    let linker_flags = [
        "-s -w".to_owned(),
        variable("gitVersion", &version),
        variable("gitMajor", numbers.next().unwrap_or_default()),
        variable("gitMinor", numbers.next().unwrap_or_default()),
    ]
    .join(" ");
    let output = format!("{}/", folder.display());
    let module_path = module.display().to_string();
    let arguments = ["-C", &module_path, "build", "-buildvcs=false", "-ldflags", &linker_flags, "-o", &output];
    let arguments = arguments.into_iter().chain(programs.iter().copied());

    let started = Instant::now();
    let mut announced = Duration::ZERO;
    let mut compiler = Component::start("go build", folder.to_owned(), Path::new("go"), arguments)?;
    let status = loop {
        if let Some(status) = compiler.ended() {
            break status;
        }
        let elapsed = started.elapsed();
        if elapsed >= announced + Duration::from_secs(30) {
            announced = elapsed;
            say(&format!("still building after {} s", elapsed.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    if !status.success() {
        return Err(format!("failed to build Kubernetes {version} with {go}\n{}", compiler.log_tail()));
    }
    compiler.keep_folder();
    say(&format!("built in {} s", started.elapsed().as_secs()));
    Ok(())
}

/// Copies kwok's stage files from the module cache, so that a complete folder does not need Go.
fn copy_stages(module: &Path, folder: &Path) -> Result<(), String> {
    let kwok = go(&["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"], module)?;
    let failed = |error: io::Error| format!("failed to copy the stage files of kwok: {error}");
    fs::create_dir_all(folder).map_err(failed)?;
    for source in STAGE_SOURCES {
        for entry in fs::read_dir(Path::new(&kwok).join("kustomize/stage").join(source)).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default();
            if path.extension().is_some_and(|extension| extension == "yaml") && name != "kustomization.yaml" {
                fs::write(folder.join(name), fs::read(&path).map_err(failed)?).map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// The output of a `go` command in the folder of a module.
fn go(arguments: &[&str], module: &Path) -> Result<String, String> {
    let output = Command::new("go").args(arguments).current_dir(module).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("failed to run `go`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`go {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Writes to the real standard error: the test runner buffers the output of the print macros until a test fails.
fn say(message: &str) {
    let _ = writeln!(io::stderr(), "control plane: {message}");
}
