//! `-k`: runs `kustomize build`, or `kubectl kustomize` where there is no `kustomize` on PATH.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::process::{Child, Command, Stdio};

use super::{InputProblem, read_bounded, reason};
use crate::text::{name_without_credentials, urls_without_credentials};

/// The programs that can do it, the first that is there.
const PROGRAMS: [(&str, &str); 2] = [("kustomize", "build"), ("kubectl", "kustomize")];
/// Longest text that is passed on of what the program says, in bytes.
const MAX_TEXT: u64 = 64 << 10;

/// What was built.
pub(super) struct Built {
    pub manifests: Vec<u8>,
    pub warnings: Vec<String>,
}

pub(super) fn build(directory: &OsStr) -> Result<Built, InputProblem> {
    let name = name_without_credentials(&directory.to_string_lossy());
    for (program, verb) in PROGRAMS {
        let command = format!("{program} {verb}");
        let started = Command::new(program)
            .arg(verb)
            .arg("--")
            .arg(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        return match started {
            Ok(child) => finish(child, &command, &name),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                let message = format!("`{command}` cannot be run: {}", reason(&error));
                Err(InputProblem::of_file(&name, message))
            }
        };
    }
    let message = "`-k` needs `kustomize` or `kubectl` on PATH, and neither is there";
    Err(InputProblem::general(message).with_hint("see https://kubectl.docs.kubernetes.io/installation/kustomize/"))
}

fn finish(mut child: Child, command: &str, name: &str) -> Result<Built, InputProblem> {
    // Both pipes are read at once, so that the program never waits for us.
    let said = child.stderr.take().map(|pipe| std::thread::spawn(|| text(pipe)));
    let manifests = child.stdout.take().map_or_else(|| Ok(Vec::new()), read_bounded);
    if manifests.is_err() {
        // It still writes, and nobody reads.
        let _ = child.kill();
    }
    let status = child.wait();
    let said =
        said.and_then(|reader| reader.join().ok()).map(|said| urls_without_credentials(&said)).unwrap_or_default();
    let problem = |message: String| InputProblem::of_file(name, message);
    let manifests = manifests.map_err(|error| problem(format!("`{command}`: {}", reason(&error))))?;
    match status {
        Ok(status) if status.success() => {
            Ok(Built { manifests, warnings: said.lines().map(ToOwned::to_owned).collect() })
        }
        Ok(status) => {
            let said = if said.is_empty() { status.to_string() } else { said };
            Err(problem(format!("`{command}` failed: {said}")))
        }
        Err(error) => Err(problem(format!("`{command}` failed: {}", reason(&error)))),
    }
}

fn text(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = pipe.by_ref().take(MAX_TEXT).read_to_end(&mut bytes);
    // The rest is read, too, so that the program can end.
    let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
