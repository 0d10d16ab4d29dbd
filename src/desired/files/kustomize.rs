//! `-k`: runs `kustomize build`, or `kubectl kustomize` if there is no `kustomize` on PATH.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reconcile_core::diagnostic::{Diagnostic, KUSTOMIZATIONS, is_kustomization};
use reconcile_core::text::{io_reason, name_without_credentials, urls_without_credentials};

use super::voice::{Failure, Voice};
use crate::bounded::read_at_most;
use crate::desired::child::{Ended, Unended, ended};
use crate::program;
use crate::program::LookupError;

/// The programs that can build, in the order of preference.
const PROGRAMS: [(&str, &str); 2] = [("kustomize", "build"), ("kubectl", "kustomize")];
/// Time limit of the program, which may have to fetch remote bases with git.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// The output of a build.
pub(in crate::desired) struct Built {
    pub manifests: Vec<u8>,
    pub warnings: Vec<String>,
}

pub(in crate::desired) fn build(directory: &OsStr) -> Result<Built, Diagnostic> {
    build_within(directory, Limits { time: TIME_LIMIT, bytes: MAX_INPUT }, &[])
}

/// The environment of a build that fetches nothing: git knows no protocol, and a proxy is where nobody listens.
const ALONE: [(&str, &str); 6] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("https_proxy", "http://127.0.0.1:9"),
    ("http_proxy", "http://127.0.0.1:9"),
    ("NO_PROXY", ""),
];

/// The limits of a build.
#[derive(Clone, Copy)]
pub(in crate::desired) struct Limits {
    pub time: Duration,
    /// The most bytes of its output.
    pub bytes: u64,
}

/// Builds within limits, and without fetching anything.
pub(in crate::desired) fn build_alone(directory: &OsStr, limits: Limits) -> Result<Built, Diagnostic> {
    build_within(directory, limits, &ALONE)
}

fn build_within(directory: &OsStr, limits: Limits, environment: &[(&str, &str)]) -> Result<Built, Diagnostic> {
    let name = name_without_credentials(&directory.to_string_lossy());
    if Path::new(directory).is_file() {
        let message = "is a file, and `-k` takes the directory of a kustomization";
        let folder = Path::new(directory).parent().filter(|_| is_kustomization(&name)).map(named);
        return Err(Diagnostic::of_file(&name, message).with_hint(match folder {
            Some(folder) => format!("pass its directory: `-k {folder}`"),
            None => format!("`-f {name}` reads manifests"),
        }));
    }
    let (program, command, verb) = find()?;
    let started = Command::new(program)
        .arg(verb)
        .arg("--")
        .arg(directory)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = started
        .map_err(|error| Diagnostic::of_file(&name, format!("`{command}` cannot be run: {}", io_reason(&error))))?;
    let file = name_without_credentials(&file(directory).to_string_lossy());
    let voice = Voice { directory, name: &name, file: &file, command: &command };
    match finish(child, limits) {
        Ok(Built { manifests, warnings }) => Ok(Built { manifests, warnings: voice.warnings(&warnings) }),
        Err(failure) => Err(voice.error(&failure)),
    }
}

/// The file of the kustomization in a directory; the directory itself if it has none, as one that is fetched.
pub(super) fn file(directory: &OsStr) -> PathBuf {
    let directory = Path::new(directory);
    let file = KUSTOMIZATIONS.iter().map(|name| directory.join(name)).find(|file| file.is_file());
    file.unwrap_or_else(|| directory.to_owned())
}

/// A directory as it is named on a command line.
fn named(directory: &Path) -> String {
    let name = name_without_credentials(&directory.to_string_lossy());
    if name.is_empty() { ".".to_owned() } else { name }
}

/// The program's path, the command as it is shown, and its verb.
fn find() -> Result<(PathBuf, String, &'static str), Diagnostic> {
    let mut refused = None;
    for (program, verb) in PROGRAMS {
        match program::find(OsStr::new(program)) {
            Ok(path) => return Ok((path, format!("{program} {verb}"), verb)),
            Err(LookupError::Missing) => {}
            Err(error) => {
                refused.get_or_insert_with(|| format!("`{program}` cannot be run: {error}"));
            }
        }
    }
    Err(match refused {
        Some(message) => {
            Diagnostic::general(message).with_hint("add the folder of the program to PATH as an absolute path")
        }
        None => Diagnostic::general("`-k` needs `kustomize` or `kubectl` on PATH, and neither is there")
            .with_hint("see https://kubectl.docs.kubernetes.io/installation/kustomize/"),
    })
}

/// Reads the output of the program until it ends.
fn finish(child: Child, limits: Limits) -> Result<Built, Failure> {
    let Ended { status, output, said } = ended(child, &[], limits.bytes, limits.time).map_err(|end| {
        Failure::Ours(match end {
            Unended::TooLate => format!("did not end within {}s", limits.time.as_secs()),
            Unended::TooMuch if limits.bytes == MAX_INPUT => "failed: it is larger than 1 GiB".to_owned(),
            Unended::TooMuch => format!("failed: it is larger than {} MiB", limits.bytes >> 20),
            Unended::Failed(error) => format!("failed: {}", io_reason(&error)),
        })
    })?;
    let said = said.trim().lines().map(without_log_head).collect::<Vec<_>>().join("\n");
    let said = urls_without_credentials(&said);
    if status.success() {
        return Ok(Built { manifests: output, warnings: said.lines().map(ToOwned::to_owned).collect() });
    }
    Err(if said.is_empty() { Failure::Ours(format!("failed: {status}")) } else { Failure::Theirs(said) })
}

/// A line without what Go's log and klog put around a message: `2026/11/25 03:17:37 no such directory`, and
/// `E1125 03:17:37.873620 9037 run.go:72] "command failed" err="no such directory"`.
fn without_log_head(line: &str) -> String {
    if let Some(message) = without_time(line) {
        return message.to_owned();
    }
    let is_head = |head: &str| {
        let mut words = head.split_ascii_whitespace();
        let date = words.next().unwrap_or_default();
        let number = date.strip_prefix(['I', 'W', 'E', 'F']).unwrap_or_default();
        let is_date = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        is_date && words.next().is_some_and(|time| time.contains(':')) && words.count() == 2
    };
    let Some((_, message)) = line.split_once("] ").filter(|(head, _)| is_head(head)) else { return line.to_owned() };
    let error = message.split_once(" err=").filter(|_| message.starts_with('"'));
    let error = error.and_then(|(_, error)| serde_json::from_str::<String>(error).ok());
    error.unwrap_or_else(|| message.to_owned())
}

/// The message behind a time, as in `2026/11/25 03:17:37 message`.
fn without_time(line: &str) -> Option<&str> {
    let (date, rest) = line.split_once(' ')?;
    let (time, message) = rest.split_once(' ')?;
    let is_of = |text: &str, form: &str| {
        let fits = |(c, in_form): (char, char)| if in_form == '0' { c.is_ascii_digit() } else { c == in_form };
        text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
    };
    (is_of(date, "0000/00/00") && is_of(time, "00:00:00")).then_some(message)
}

/// Largest input that is read, in bytes: 1 GiB.
pub const MAX_INPUT: u64 = 1 << 30;

/// Reads all of an input that is not larger than [`MAX_INPUT`].
pub(super) fn read_bounded(from: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    read_at_most(from, MAX_INPUT)?.ok_or_else(|| std::io::Error::other("it is larger than 1 GiB"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn run(script: &str, limit: Duration) -> Result<(String, Vec<String>), Failure> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let limits = Limits { time: limit, bytes: 1 << 20 };
        let built = finish(command.spawn().unwrap(), limits)?;
        Ok((String::from_utf8(built.manifests).unwrap(), built.warnings))
    }

    #[test]
    fn both_outputs_are_taken_and_a_failure_is_explained_by_the_program() {
        let limit = Duration::from_mins(1);
        assert_eq!(run("echo a: 1; echo old >&2", limit), Ok(("a: 1\n".into(), vec!["old".into()])));
        assert_eq!(run("echo a: 1; echo bad >&2; exit 3", limit), Err(Failure::Theirs("bad".into())));
        assert_eq!(run("exit 3", limit), Err(Failure::Ours("failed: exit status: 3".into())));
    }

    #[test]
    fn output_without_an_end_is_read_up_to_the_limit() {
        assert_eq!(run("yes", Duration::from_mins(1)), Err(Failure::Ours("failed: it is larger than 1 MiB".into())));
    }

    #[test]
    fn the_head_of_a_log_line_is_left_out() {
        let head = "E1125 03:17:37.873620    9037 run.go:72] ";
        for (line, message) in [
            (
                format!("{head}\"command failed\" err=\"must build at directory: 'a b'\\nand more\""),
                "must build at directory: 'a b'\nand more",
            ),
            (format!("{head}Warning: 'bases' is deprecated"), "Warning: 'bases' is deprecated"),
            (format!("{head}\"odd\" err=x"), "\"odd\" err=x"),
            ("2026/11/30 21:24:29 bad replacement".to_owned(), "bad replacement"),
            ("2026/11/30 21:24:2x bad".to_owned(), "2026/11/30 21:24:2x bad"),
            ("Error: accumulating resources: a] b".to_owned(), "Error: accumulating resources: a] b"),
            ("E1125 is not the head] of a line".to_owned(), "E1125 is not the head] of a line"),
        ] {
            assert_eq!(without_log_head(&line), message);
        }
    }

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let late = Err(Failure::Ours("did not end within 0s".to_owned()));
        // It writes nothing; it has closed its output; something that it started has not.
        for script in ["sleep 60", "exec >&- 2>&-; sleep 60", "sleep 60 & exit 0"] {
            let start = Instant::now();
            assert_eq!(run(script, Duration::from_millis(200)), late, "{script}");
            assert!(start.elapsed() < Duration::from_secs(30), "{script}");
        }
    }
}
