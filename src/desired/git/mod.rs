//! `--since`: files as they are in a revision of their git repository, read by the program `git`.
//!
//! The content of a repository may be hostile: somebody proposes it. Nothing of it is run. Only objects are read (`rev-parse`, `ls-tree`
//! and `cat-file`), which runs no hook, no filter and no conversion that an attribute names, and fetches nothing. Git is run in
//! the folder with `.git`, so that a folder of the content that looks like a repository is none.

mod checkout;
mod tree;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::{io_reason, similar};

use crate::desired::child::{self, Ended, Unended};
use crate::program;
use crate::work_tree::root;
use tree::Objects;

pub use checkout::Checkout;
pub use tree::Tree;

/// The name for the revision from which the current branch began.
const AUTO: &str = "auto";
/// Most bytes of an answer of one line.
const MAX_TEXT: u64 = 4 << 10;
/// Most branches and tags among which a similar name is looked for, and most bytes of their names.
const MAX_REFERENCES: usize = 1_000;
const MAX_NAMES: u64 = 1 << 20;
/// Longest time that a question to git may take.
const LIMIT: Duration = Duration::from_mins(1);
/// Largest list of files that is read, in bytes: 256 MiB.
const MAX_LIST: u64 = 256 << 20;
/// Variables that would lead git to another repository than that of the files, or to other objects (`git rev-parse --local-env-vars`).
/// Settings of the user in variables (`GIT_CONFIG_COUNT`) count as those in files do.
const ELSEWHERE: [&str; 14] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// A git repository, with its work tree.
#[derive(Clone, Debug)]
pub struct Repository {
    program: PathBuf,
    /// The folder with `.git`, without links.
    root: PathBuf,
}

/// A commit, and the name by which it was asked for.
#[derive(Clone, Debug)]
pub struct Revision {
    /// As it was named.
    pub name: String,
    /// The id of the commit.
    pub commit: String,
}

impl Repository {
    /// The repository that a path is in. The second value is the path in it, without links.
    pub fn of(path: &Path) -> Result<(Self, PathBuf), Diagnostic> {
        let name = path.display();
        let real = path.canonicalize().map_err(|error| {
            Diagnostic::of_file(&name.to_string(), format!("cannot be read: {}", io_reason(&error)))
        })?;
        let Some(root) = root(&real) else {
            let message = format!("`--since` needs a git repository, and {name} is in none");
            return Err(Diagnostic::general(message).with_hint(OTHERWISE));
        };
        let below = real.strip_prefix(root).unwrap_or(Path::new("")).to_owned();
        let program = program::find(OsStr::new("git")).map_err(|error| {
            Diagnostic::general(format!("`--since` needs the program `git`: {error}")).with_hint(OTHERWISE)
        })?;
        Ok((Self { program, root: root.to_owned() }, below))
    }

    /// Returns true if both are the same repository.
    pub fn is_same(&self, other: &Self) -> bool {
        self.root == other.root
    }

    /// Returns true if a folder of the work tree has files.
    pub fn has_files_in(&self, folder: &str) -> bool {
        self.root.join(folder).read_dir().is_ok_and(|mut files| files.next().is_some())
    }

    /// Finds the commit that a name means.
    pub fn revision(&self, name: &str) -> Result<Revision, Diagnostic> {
        if name == AUTO {
            let commit = self.beginning()?;
            return Ok(Revision { name: name.to_owned(), commit });
        }
        // A name that begins with a dash would be an option of git.
        let is_name = !name.is_empty() && !name.starts_with('-') && !name.chars().any(char::is_control);
        let commit = if is_name { self.commit(name)? } else { None };
        commit.map(|commit| Revision { name: name.to_owned(), commit }).ok_or_else(|| {
            let message = format!("`--since`: the repository {} has no revision `{name}`", self.root.display());
            let hint = "fetch it first (a pipeline may have a part of the history only), or pass the former manifests with `--base`";
            let hint = match self.nearest(name) {
                Some(nearest) => format!("did you mean `{nearest}`? Otherwise {hint}"),
                None => hint.to_owned(),
            };
            Diagnostic::general(message).with_hint(hint)
        })
    }

    /// The branch or tag whose name is most like a name that there is not.
    fn nearest(&self, name: &str) -> Option<String> {
        let count = format!("--count={MAX_REFERENCES}");
        let references = ["refs/heads", "refs/tags", "refs/remotes"];
        let arguments = [&["for-each-ref", "--format=%(refname:short)", &count][..], &references].concat();
        let known = self.output(&arguments, MAX_NAMES).ok()??;
        let known = String::from_utf8_lossy(&known);
        let is_plain = |known: &&str| !known.chars().any(char::is_control);
        similar(name, known.lines().filter(is_plain)).map(ToOwned::to_owned)
    }

    fn commit(&self, name: &str) -> Result<Option<String>, Diagnostic> {
        let found = self.ask(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        let is_id = |text: &String| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(found.filter(is_id))
    }

    /// The commit at which the current branch left the branch that it is to be merged into: its upstream, if that is a branch of
    /// another name, or the default branch of the remote.
    fn beginning(&self) -> Result<String, Diagnostic> {
        let branch = self.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        let upstream = match &branch {
            Some(branch) => {
                let format = "--format=%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)";
                self.ask(&["for-each-ref", format, &format!("refs/heads/{branch}")])?.unwrap_or_default()
            }
            None => String::new(),
        };
        let mut parts = upstream.split('\0').map(ToOwned::to_owned);
        let [upstream, remote, reference] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let is_own = branch.is_some_and(|branch| reference == format!("refs/heads/{branch}"));
        let target = if upstream.is_empty() || is_own { self.default_branch(&remote)? } else { upstream };
        let base = self.ask(&["merge-base", "HEAD", &target])?;
        base.ok_or_else(|| {
            let message = format!("`--since auto`: git finds no common ancestor of HEAD and {target}");
            Diagnostic::general(message).with_hint("fetch the whole history, or name the revision with `--since`")
        })
    }

    /// The default branch of a remote; of the only remote, or of `origin`, if none is named.
    fn default_branch(&self, remote: &str) -> Result<String, Diagnostic> {
        let remotes = self.ask(&["remote"])?.unwrap_or_default();
        let remotes: Vec<&str> = remotes.lines().collect();
        let remote = match (remote, remotes.as_slice()) {
            ("" | ".", []) => {
                let message = "`--since auto` compares with a branch of a remote, and this repository has no remote";
                return Err(Diagnostic::general(message).with_hint("name the revision, as in `--since main`"));
            }
            ("" | ".", [only]) => only,
            ("" | ".", _) => "origin",
            (remote, _) => remote,
        };
        let head = format!("refs/remotes/{remote}/HEAD");
        if let Some(branch) = self.ask(&["symbolic-ref", "--quiet", &head])? {
            return Ok(branch);
        }
        // Only `git clone` writes down the default branch: a remote that was added later has branches alone.
        let configured = self.ask(&["config", "--get", "init.defaultBranch"])?;
        let mut usual: Vec<String> = configured.into_iter().chain(["main", "master"].map(ToOwned::to_owned)).collect();
        usual.dedup();
        let mut found = Vec::new();
        for name in usual {
            let branch = format!("refs/remotes/{remote}/{name}");
            found.extend(self.commit(&branch)?.map(|_| branch));
        }
        found.dedup();
        let only = found.pop().filter(|_| found.is_empty());
        only.ok_or_else(|| {
            let message = format!("`--since auto`: git does not know the default branch of the remote `{remote}`");
            let hint = format!(
                "run `git remote set-head {remote} --auto`, or name the revision, as in `--since {remote}/main`"
            );
            Diagnostic::general(message).with_hint(hint)
        })
    }

    /// The files of a revision.
    pub fn tree(&self, revision: &Revision) -> Result<Tree, Diagnostic> {
        let list = self.output(&["ls-tree", "-r", "-z", "--long", "--full-tree", &revision.commit], MAX_LIST)?;
        let Some(list) = list else {
            return Err(self.unlisted(revision));
        };
        Ok(Tree::of(&list, Objects::begin(self.command(&["cat-file", "--batch"]), LIMIT)?))
    }

    /// The error for a revision whose files cannot be listed with their sizes.
    fn unlisted(&self, revision: &Revision) -> Diagnostic {
        let message = format!("`--since`: git cannot list the files of `{}`", revision.name);
        let is_partial =
            self.ask(&["config", "--get-regexp", r"^remote\..*\.promisor$"]).is_ok_and(|found| found.is_some());
        if !is_partial {
            return Diagnostic::general(message);
        }
        let hint = format!(
            "run `git archive {} > /dev/null`, which fetches them, or clone without `--filter`: this program fetches nothing",
            revision.commit
        );
        let message = format!("{message}: this is a partial clone, and some of them were not fetched yet");
        Diagnostic::general(message).with_hint(hint)
    }

    /// The first line that a command prints; `None` if it fails.
    fn ask(&self, arguments: &[&str]) -> Result<Option<String>, Diagnostic> {
        let output = self.output(arguments, MAX_TEXT)?;
        let text = output.map(|output| String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned());
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// Returns what a command prints, up to a bound; `None` if it fails. A repository that git does not trust is an error.
    fn output(&self, arguments: &[&str], most: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let failed = |why: String| Diagnostic::general(format!("`git {}` {why}", arguments.first().unwrap_or(&"")));
        let mut command = self.command(arguments);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("cannot be run: {}", io_reason(&error))))?;
        let Ended { status, output, said } = ended(child, most, LIMIT).map_err(failed)?;
        if !status.success() && said.contains("dubious ownership") {
            let message =
                format!("git does not trust the repository {}, as somebody else owns it", self.root.display());
            let hint = format!("`git config --global --add safe.directory {}` trusts it", self.root.display());
            return Err(Diagnostic::general(message).with_hint(hint));
        }
        Ok(status.success().then_some(output))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-C").arg(&self.root).args(["--no-pager", "--no-replace-objects"]);
        let settings = [
            "core.attributesFile=/dev/null",
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "protocol.allow=never",
            "safe.bareRepository=explicit",
        ];
        for setting in settings {
            command.args(["-c", setting]);
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        for variable in ELSEWHERE {
            command.env_remove(variable);
        }
        let environment = [
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
        ];
        command.envs(environment);
        command
    }
}

/// Reads what a program prints until it ends, up to a bound and for a time. The error completes a sentence that begins with the command.
fn ended(child: Child, most: u64, limit: Duration) -> Result<Ended, String> {
    child::ended(child, &[], most, limit).map_err(|end| match end {
        Unended::TooLate => format!("did not end within {}s", limit.as_secs()),
        Unended::TooMuch => "printed more than is read".to_owned(),
        Unended::Failed(error) => format!("failed: {}", io_reason(&error)),
    })
}

/// The advice for an input of which no revision can be read.
pub const OTHERWISE: &str = "pass the manifests that were applied last with `--base`";

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn run(script: &str, most: u64, limit: Duration) -> Result<Ended, String> {
        let mut command = Command::new("sh");
        let child = command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        ended(child, most, limit)
    }

    #[test]
    fn a_program_has_bounds_of_time_and_size() {
        let second = Duration::from_secs(1);
        let done = run("echo found; echo said >&2", 100, 20 * second).unwrap();
        assert_eq!((done.output, done.said.as_str(), done.status.success()), (b"found\n".to_vec(), "said\n", true));
        assert_eq!(run("exec sleep 60", 100, second).err().unwrap(), "did not end within 1s");
        assert_eq!(run("echo a long text", 4, 20 * second).err().unwrap(), "printed more than is read");
    }
}
