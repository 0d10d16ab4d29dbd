//! A private copy of a revision, for a program that reads files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::tree::Tree;
use crate::private_folder::{self, PrivateFolder};

/// Largest revision that is copied, in bytes: 2 GiB.
const MAX_COPY: u64 = 2 << 30;

/// All files of a revision in a folder that only this user can read. It is removed at the end, also if this process is killed.
#[derive(Debug)]
pub struct Checkout {
    folder: Option<PrivateFolder>,
    /// The path of the folder without links.
    root: PathBuf,
    guard: Option<Guard>,
}

/// A process that removes a folder as soon as this one closes a pipe, which the system does for a process that is killed.
#[derive(Debug)]
struct Guard {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Checkout {
    /// An empty folder.
    fn new() -> io::Result<Self> {
        let folder = PrivateFolder::new()?;
        let root = folder.path().canonicalize()?;
        let guard = Guard::of(&root);
        Ok(Self { folder: Some(folder), root, guard })
    }

    /// Copies a revision. Links that lead out of it are left out.
    pub fn of(tree: &mut Tree) -> io::Result<Self> {
        let size = tree.entries().fold(0_u64, |sum, (_, entry)| sum.saturating_add(entry.size));
        if size > MAX_COPY {
            return Err(io::Error::other("the revision is larger than 2 GiB"));
        }
        let checkout = Self::new()?;
        let all: Vec<(String, bool)> = tree.entries().map(|(path, entry)| (path.to_owned(), entry.is_link)).collect();
        // While files are written there are no links yet, so that none of them leads a file out.
        for (path, _) in all.iter().filter(|(_, is_link)| !is_link) {
            checkout.write(path, &tree.content(path)?)?;
        }
        let links: Vec<&str> = all.iter().filter(|(_, is_link)| *is_link).map(|(path, _)| path.as_str()).collect();
        for path in &links {
            let target = String::from_utf8(tree.content(path)?).map_err(|_| io::ErrorKind::InvalidData)?;
            checkout.link(path, &target)?;
        }
        checkout.remove_links_that_lead_out(&links)?;
        Ok(checkout)
    }

    /// Copies files, which are named by their relative paths.
    pub fn of_files(files: &BTreeMap<&str, &[u8]>) -> io::Result<Self> {
        let checkout = Self::new()?;
        for (path, content) in files {
            checkout.write(path, content)?;
        }
        Ok(checkout)
    }

    /// Writes another text into a file, or a new one, of a copy without links.
    pub fn replace(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let place = self.place(path)?;
        make_parent(&place)?;
        fs::write(place, content)
    }

    /// Makes a link to another file or folder of the copy.
    pub fn link_within(&self, path: &str, target: &str) -> io::Result<()> {
        let target = self.place(target)?;
        self.link(path, &target.to_string_lossy())
    }

    /// Removes a file of a copy without links.
    pub fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.place(path)?)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn place(&self, path: &str) -> io::Result<PathBuf> {
        let is_part = |part: &str| !["", ".", ".."].contains(&part) && !part.eq_ignore_ascii_case(".git");
        let is_path = path.split('/').all(|part| is_part(part) && !part.contains(['\\', '\0']));
        let refused = || io::Error::other(format!("the revision has a file with the impossible name `{path}`"));
        if is_path { Ok(self.root.join(path)) } else { Err(refused()) }
    }

    fn write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let place = self.place(path)?;
        make_parent(&place)?;
        private_folder::write(&place, content)
    }

    /// Makes a link where no other link leads.
    #[cfg(unix)]
    fn link(&self, path: &str, target: &str) -> io::Result<()> {
        let place = self.place(path)?;
        let is_through_link = place.ancestors().skip(1).take_while(|above| *above != self.root).any(Path::is_symlink);
        if is_through_link {
            return Err(io::Error::other(format!("the revision has `{path}` below a link")));
        }
        make_parent(&place)?;
        std::os::unix::fs::symlink(target, place)
    }

    #[cfg(not(unix))]
    fn link(&self, _path: &str, _target: &str) -> io::Result<()> {
        Ok(())
    }

    /// Removes each link whose target is not in the folder. A link that leads nowhere now could lead out later.
    fn remove_links_that_lead_out(&self, links: &[&str]) -> io::Result<()> {
        for path in links {
            let place = self.place(path)?;
            if place.is_symlink() && !place.canonicalize().is_ok_and(|target| target.starts_with(&self.root)) {
                fs::remove_file(place)?;
            }
        }
        Ok(())
    }
}

fn make_parent(place: &Path) -> io::Result<()> {
    place.parent().map_or(Ok(()), private_folder::make_folders)
}

impl Guard {
    /// Starts the process; `None` if it cannot be started, so that the folder stays if this process is killed.
    #[cfg(unix)]
    fn of(folder: &Path) -> Option<Self> {
        use std::os::unix::process::CommandExt as _;
        let script = "trap '' HUP INT TERM; read -r _; rm -rf -- \"$1\"";
        let started = Command::new("/bin/sh")
            .args(["-c", script, "sh"])
            .arg(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let mut child = started.ok()?;
        let pipe = child.stdin.take();
        Some(Self { child, pipe })
    }

    #[cfg(not(unix))]
    fn of(_folder: &Path) -> Option<Self> {
        None
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        drop(self.folder.take());
        if let Some(mut guard) = self.guard.take() {
            drop(guard.pipe.take());
            let _ = guard.child.wait();
        }
    }
}
