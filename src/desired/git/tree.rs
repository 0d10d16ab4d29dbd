//! The files of a revision, and their content from `git cat-file --batch`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::io_reason;

use crate::desired::files::MAX_INPUT;

/// Most links on the way to a file.
const LINKS: usize = 40;
/// Longest line before a content, in bytes.
const HEADER: u64 = 256;

/// The files of a revision, by their paths from the root of the repository, with `/` between the parts.
#[derive(Debug)]
pub struct Tree {
    entries: BTreeMap<String, Entry>,
    /// The folders that are submodules, whose files are in other repositories.
    submodules: BTreeSet<String>,
    objects: Objects,
}

/// A file or a link.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The id of its content.
    id: String,
    /// True if it is a symbolic link, whose content is its target.
    pub is_link: bool,
    /// The size of its content in bytes.
    pub size: u64,
}

impl Tree {
    /// Reads a list of `git ls-tree -r -z --long`. Files whose names are no text are left out.
    pub(super) fn of(list: &[u8], objects: Objects) -> Self {
        let mut entries = BTreeMap::new();
        let mut submodules = BTreeSet::new();
        let lines = list.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
        for (facts, path) in lines.filter_map(|line| line.split_once('\t')) {
            let mut facts = facts.split_ascii_whitespace();
            let mode = facts.next();
            let kind = facts.next();
            let id = facts.next();
            let size = facts.next();
            let size = size.and_then(|size| size.parse().ok()).unwrap_or_default();
            match (kind, id) {
                (Some("blob"), Some(id)) => {
                    let entry = Entry { id: id.to_owned(), is_link: mode == Some("120000"), size };
                    entries.insert(path.to_owned(), entry);
                }
                (Some("commit"), _) => drop(submodules.insert(path.to_owned())),
                _ => {}
            }
        }
        Self { entries, submodules, objects }
    }

    /// The submodule that a folder is or is in.
    pub fn submodule_of(&self, folder: &str) -> Option<&str> {
        self.submodules.iter().map(String::as_str).find(|submodule| is_below(folder, submodule))
    }

    /// The submodules below a folder.
    pub fn submodules_below<'t>(&'t self, folder: &'t str) -> impl Iterator<Item = &'t str> {
        self.submodules.iter().map(String::as_str).filter(move |submodule| is_below(submodule, folder))
    }

    /// All files and links, in the order of their paths.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// The files and links below a folder.
    pub fn below<'t>(&'t self, folder: &'t str) -> impl Iterator<Item = (&'t str, &'t Entry)> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let entries = self.entries.range(start.clone()..);
        entries.map(|(path, entry)| (path.as_str(), entry)).take_while(move |(path, _)| path.starts_with(&start))
    }

    /// Returns true if it has a file or a link at this path.
    pub fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// The content of a file or a link.
    pub fn content(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let entry = self.entries.get(path).ok_or(io::ErrorKind::NotFound)?;
        self.objects.content(&entry.id)
    }

    /// The content of the file that a path leads to over links; `None` if it leads nowhere. Links that lead out of the repository are
    /// errors.
    pub fn read(&mut self, path: &str) -> io::Result<Option<Vec<u8>>> {
        match self.target(path)? {
            Some(target) if self.has(&target) => self.content(&target).map(Some),
            _ => Ok(None),
        }
    }

    /// The path of a file or a folder without links; `None` if a link leads nowhere.
    pub fn target(&mut self, path: &str) -> io::Result<Option<String>> {
        let mut parts: Vec<String> = path.split('/').rev().map(ToOwned::to_owned).collect();
        let (mut at, mut links): (Vec<String>, usize) = (Vec::new(), 0);
        while let Some(part) = parts.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." if at.pop().is_some() => continue,
                ".." => return Err(io::Error::other("a link leads out of the repository")),
                _ => at.push(part),
            }
            let here = at.join("/");
            if !self.entries.get(&here).is_some_and(|entry| entry.is_link) {
                continue;
            }
            links = links.saturating_add(1);
            if links > LINKS {
                return Ok(None);
            }
            let target = String::from_utf8(self.content(&here)?).map_err(|_| io::ErrorKind::InvalidData)?;
            if target.starts_with('/') {
                return Err(io::Error::other("a link leads out of the repository"));
            }
            at.pop();
            parts.extend(target.split('/').rev().map(ToOwned::to_owned));
        }
        Ok(Some(at.join("/")))
    }
}

/// Returns true if a path is a folder or is below it.
fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A process that prints objects as they are stored. It runs no filter and no conversion.
#[derive(Debug)]
pub struct Objects {
    child: Child,
    /// The ids of the contents that are asked for. A thread of their own reads them, so that one that does not come is given up.
    asked: Sender<String>,
    answers: Receiver<io::Result<Vec<u8>>>,
    limit: Duration,
    /// True once a content did not come: it might still, and would be taken for the next one.
    is_given_up: bool,
}

impl Objects {
    /// Starts the process, which has this time for each content.
    pub(super) fn begin(command: Command, limit: Duration) -> Result<Self, Diagnostic> {
        Self::within(command, limit)
            .map_err(|error| Diagnostic::general(format!("`git cat-file` cannot be run: {}", io_reason(&error))))
    }

    fn within(mut command: Command, limit: Duration) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("it has no input or output");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (asked, ids) = mpsc::channel::<String>();
        let (found, answers) = mpsc::channel();
        thread::spawn(move || {
            let mut input = input;
            let mut output = BufReader::new(output);
            ids.into_iter().try_for_each(|id| found.send(answer(&mut input, &mut output, &id)).ok())
        });
        Ok(Self { child, asked, answers, limit, is_given_up: false })
    }

    /// The content of a file.
    pub fn content(&mut self, id: &str) -> io::Result<Vec<u8>> {
        let ended = || io::Error::other("git has ended");
        if self.is_given_up {
            return Err(ended());
        }
        self.asked.send(id.to_owned()).map_err(|_| ended())?;
        self.answers.recv_timeout(self.limit).unwrap_or_else(|error| {
            self.is_given_up = true;
            let _ = self.child.kill();
            Err(match error {
                RecvTimeoutError::Timeout => {
                    io::Error::other(format!("git did not print it within {}s", self.limit.as_secs()))
                }
                RecvTimeoutError::Disconnected => ended(),
            })
        })
    }
}

/// Asks for a content and reads it.
fn answer(input: &mut ChildStdin, output: &mut BufReader<impl Read>, id: &str) -> io::Result<Vec<u8>> {
    input.write_all(format!("{id}\n").as_bytes())?;
    input.flush()?;
    let mut header = Vec::new();
    output.by_ref().take(HEADER).read_until(b'\n', &mut header)?;
    let header = String::from_utf8_lossy(&header).into_owned();
    let mut words = header.split_ascii_whitespace();
    let _ = words.next();
    let kind = words.next();
    let size = words.next();
    let size = match (kind, size.and_then(|size| size.parse::<u64>().ok())) {
        (Some("blob"), Some(size)) if size <= MAX_INPUT => size,
        (Some("blob"), Some(_)) => return Err(io::Error::other("it is larger than 1 GiB")),
        _ => return Err(io::Error::other("its content is not in this clone of the repository")),
    };
    let mut content = Vec::new();
    let read = output.by_ref().take(size.saturating_add(1)).read_to_end(&mut content)?;
    if u64::try_from(read).ok() != Some(size.saturating_add(1)) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    content.pop();
    Ok(content)
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// Objects of a script that plays `git cat-file --batch`, and has this number of seconds for each content.
    fn played(script: &str, seconds: u64) -> Objects {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Objects::within(command, Duration::from_secs(seconds)).unwrap()
    }

    #[test]
    fn contents_come_one_after_the_other() {
        let mut objects = played("while read -r id; do printf '%s blob 2\\n%s\\n' $id $id; done", 20);
        for id in ["a1", "b2", "a1"] {
            assert_eq!(objects.content(id).unwrap(), id.as_bytes());
        }
    }

    #[test]
    fn a_content_has_bounds_of_time_and_size() {
        let refused_within = |script: &str, seconds| played(script, seconds).content("a1").unwrap_err().to_string();
        for script in ["read -r id; exec sleep 60", "read -r id; printf 'a1 blob 9\\nab'; exec sleep 60"] {
            assert_eq!(refused_within(script, 1), "git did not print it within 1s");
        }
        let refused = |script| refused_within(script, 20);
        assert_eq!(
            refused("read -r id; printf 'a1 blob 1073741825\\n'; exec cat /dev/zero"),
            "it is larger than 1 GiB"
        );
        assert_eq!(refused("read -r id; echo a1 missing"), "its content is not in this clone of the repository");
        assert_eq!(
            refused("read -r id; exec tr '\\0' x < /dev/zero"),
            "its content is not in this clone of the repository",
            "a header is bounded"
        );
        refused("read -r id; printf 'a1 blob 9\\nab'");
        refused("exit 0");
    }

    #[test]
    fn nothing_is_read_after_a_content_that_did_not_come() {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        let wait = format!("until [ -e '{}' ]; do sleep 0.02; done", go.display());
        let mut objects = played(&format!("read -r id; {wait}; printf 'a1 blob 2\\na1\\n'; sleep 60"), 1);
        objects.content("a1").unwrap_err();
        std::fs::write(go, "").unwrap();
        thread::sleep(Duration::from_millis(500));
        assert!(objects.content("b2").is_err());
    }
}
