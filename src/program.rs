//! Reads the command lines of other programs, and finds the programs before they are run.
//!
//! A program is never taken from the working directory, which may be somebody else's repository: entries of `PATH` that are
//! empty, relative or this very folder do not count. For credential plugins, what Go's `os/exec` does counts, by which kubectl finds them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// No program of a name may be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LookupError {
    /// No folder on `PATH` has it.
    #[error("it is not on PATH")]
    Missing,
    /// Only a relative entry of `PATH` leads to it.
    #[error("PATH leads to it only through the relative folder `{}`, and no program is run from there", .folder.display())]
    OnlyRelative {
        /// The entry, `.` if it is empty.
        folder: PathBuf,
    },
    /// Only the working directory has it.
    #[error("PATH leads to it only through `{}`, which is the working directory, and no program is run from there", .folder.display())]
    OnlyHere {
        /// The entry.
        folder: PathBuf,
    },
    /// The first entry of `PATH` that has it is relative.
    #[error("PATH leads to it through the relative folder `{}` first, and no plugin is run from there", .folder.display())]
    FirstRelative {
        /// The entry, `.` if it is empty.
        folder: PathBuf,
    },
}

/// Finds a program by its name or its path, and returns its absolute path.
///
/// A path (anything with a separator) is relative to the working directory. It is not searched for, and not checked before it is
/// run.
pub fn find(program: &OsStr) -> Result<PathBuf, LookupError> {
    if is_path(program) {
        return std::path::absolute(program).map_err(|_| LookupError::Missing);
    }
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
    search(&names_of(program, &extensions()), &variable(), here.as_deref())
}

/// Finds a credential plugin as [`find`] does, but by Go's rules (`exec.LookPath`, `ErrDot`): the first one on `PATH` counts, and if its
/// folder is relative, none is run.
pub fn find_first(program: &OsStr) -> Result<PathBuf, LookupError> {
    if is_path(program) {
        return std::path::absolute(program).map_err(|_| LookupError::Missing);
    }
    first(&names_of(program, &extensions()), &variable())
}

fn variable() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Returns true if a program is named by its path, and not to be searched for.
pub fn is_path(program: &OsStr) -> bool {
    program.to_string_lossy().contains(|c| std::path::is_separator(c) || cfg!(windows) && c == ':')
}

/// The programs of one of the names in the folders of `path`, in order, each with its folder.
fn programs<'a>(names: &'a [OsString], path: &'a OsStr) -> impl Iterator<Item = (PathBuf, PathBuf)> + 'a {
    std::env::split_paths(path).filter_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        let found = names.iter().map(|name| folder.join(name)).find(|path| is_program(path))?;
        Some((folder, found))
    })
}

/// The first program in the absolute folders of `path` that are not `here`, the working directory.
fn search(names: &[OsString], path: &OsStr, here: Option<&Path>) -> Result<PathBuf, LookupError> {
    let mut refused = None;
    for (folder, found) in programs(names, path) {
        if !folder.is_absolute() {
            refused.get_or_insert(LookupError::OnlyRelative { folder });
        } else if here.is_some() && folder.canonicalize().ok().as_deref() == here {
            refused.get_or_insert(LookupError::OnlyHere { folder });
        } else {
            return Ok(found);
        }
    }
    Err(refused.unwrap_or(LookupError::Missing))
}

/// The first program in the folders of `path`, if its folder is absolute.
fn first(names: &[OsString], path: &OsStr) -> Result<PathBuf, LookupError> {
    match programs(names, path).next() {
        Some((folder, found)) if folder.is_absolute() => Ok(found),
        Some((folder, _)) => Err(LookupError::FirstRelative { folder }),
        None => Err(LookupError::Missing),
    }
}

/// The file names of a program. On Windows, a name without an extension gets those of `PATHEXT`.
fn names_of(program: &OsStr, extensions: &[String]) -> Vec<OsString> {
    let is_complete = extensions.is_empty() || Path::new(program).extension().is_some();
    let with = |extension: &String| {
        let mut name = program.to_owned();
        name.push(extension);
        name
    };
    is_complete.then(|| program.to_owned()).into_iter().chain(extensions.iter().map(with)).collect()
}

/// The extensions of programs on Windows; empty on other systems.
fn extensions() -> Vec<String> {
    if !cfg!(windows) {
        return Vec::new();
    }
    let listed = std::env::var("PATHEXT").ok().filter(|listed| !listed.is_empty());
    let listed = listed.unwrap_or_else(|| ".COM;.EXE;.BAT;.CMD".to_owned());
    listed.split(';').filter(|extension| extension.starts_with('.')).map(ToOwned::to_owned).collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Splits a command line into words as a shell does (POSIX, "Quoting"), without anything else that a shell knows: no variables,
/// no commands, no globs.
pub fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a quote is not closed")? {
                        '\'' => break,
                        c => quoted.push(c),
                    }
                }
            }
            '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a quote is not closed")? {
                        '"' => break,
                        '\\' => match chars.next().ok_or("a quote is not closed")? {
                            c @ ('"' | '\\' | '$' | '`') => quoted.push(c),
                            c => quoted.extend(['\\', c]),
                        },
                        c => quoted.push(c),
                    }
                }
            }
            // On Windows, a backslash separates folders.
            '\\' if !cfg!(windows) => {
                word.get_or_insert_default().push(chars.next().ok_or("nothing follows the last backslash")?);
            }
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A folder with files of these names and modes.
    fn folder(files: &[(&str, u32)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in files {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        folder
    }

    fn found(name: &str, folders: &[&Path]) -> Result<PathBuf, LookupError> {
        search(&[name.into()], &std::env::join_paths(folders).unwrap(), None)
    }

    /// The way from the working directory up to the root and down to a folder.
    fn relative(to: &Path) -> PathBuf {
        let depth = std::env::current_dir().unwrap().components().count() - 1;
        PathBuf::from("../".repeat(depth)).join(to.strip_prefix("/").unwrap())
    }

    #[test]
    fn the_first_executable_file_of_an_absolute_folder_is_the_program() {
        let plain = folder(&[("tool", 0o644)]);
        let runs = folder(&[("tool", 0o755)]);
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("tool")).unwrap();
        let path = [Path::new("/nowhere"), directory.path(), plain.path(), runs.path()];
        assert_eq!(found("tool", &path), Ok(runs.path().join("tool")));
        assert_eq!(found("tool", &path[..3]), Err(LookupError::Missing));
        assert_eq!(found("other", &path), Err(LookupError::Missing));
    }

    #[test]
    fn relative_and_empty_entries_do_not_count() {
        let runs = folder(&[("tool", 0o755)]);
        let there = relative(runs.path());
        assert!(there.join("tool").exists());
        assert_eq!(found("tool", &[&there]), Err(LookupError::OnlyRelative { folder: there.clone() }));
        assert_eq!(found("tool", &[&there, runs.path()]), Ok(runs.path().join("tool")));
        // The tests run in the package's folder.
        for entry in ["", "."] {
            let names = ["build".into(), "run".into()];
            assert_eq!(search(&names, OsStr::new(entry), None), Err(LookupError::Missing));
        }
    }

    #[test]
    fn the_working_directory_does_not_count_whatever_its_path() {
        let here = folder(&[("tool", 0o755)]);
        let elsewhere = folder(&[("tool", 0o755)]);
        let link = tempfile::tempdir().unwrap();
        let link = link.path().join("here");
        std::os::unix::fs::symlink(here.path(), &link).unwrap();
        let canonical = here.path().canonicalize().unwrap();
        let search =
            |folders: &[&Path]| search(&["tool".into()], &std::env::join_paths(folders).unwrap(), Some(&canonical));
        std::fs::create_dir(here.path().join("x")).unwrap();
        for folder in [here.path(), &here.path().join("x/.."), &link] {
            assert_eq!(search(&[folder]), Err(LookupError::OnlyHere { folder: folder.to_owned() }));
            assert_eq!(search(&[folder, elsewhere.path()]), Ok(elsewhere.path().join("tool")));
        }
    }

    #[test]
    fn a_plugin_behind_a_relative_folder_that_has_it_is_not_found() {
        let runs = folder(&[("tool", 0o755)]);
        let there = relative(runs.path());
        let first = |folders: &[&Path]| first(&["tool".into()], &std::env::join_paths(folders).unwrap());
        assert_eq!(first(&[&there, runs.path()]), Err(LookupError::FirstRelative { folder: there.clone() }));
        assert_eq!(first(&[Path::new(""), runs.path(), &there]), Ok(runs.path().join("tool")));
        assert_eq!(first(&[Path::new("/nowhere")]), Err(LookupError::Missing));
    }

    #[test]
    fn a_path_is_absolute_and_not_searched_for() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(find(OsStr::new("bin/tool")), Ok(here.join("bin/tool")));
        assert_eq!(find(OsStr::new("./tool")), Ok(here.join("tool")));
        assert_eq!(find(OsStr::new("/bin/tool")), Ok("/bin/tool".into()));
    }

    #[test]
    fn a_name_without_an_ending_has_those_of_windows() {
        let endings = [".EXE".to_owned(), ".CMD".to_owned()];
        assert_eq!(names_of(OsStr::new("tool"), &endings), ["tool.EXE", "tool.CMD"]);
        assert_eq!(names_of(OsStr::new("tool.cmd"), &endings), ["tool.cmd", "tool.cmd.EXE", "tool.cmd.CMD"]);
        assert_eq!(names_of(OsStr::new("tool"), &[]), ["tool"]);
    }

    #[test]
    fn command_lines_are_split_as_a_shell_splits_them() {
        for (text, expected) in [
            ("", &[][..]),
            ("  diff   -u -N\t", &["diff", "-u", "-N"]),
            ("dyff between --omit-header", &["dyff", "between", "--omit-header"]),
            ("'/opt/my tools/diff' --label='a b'", &["/opt/my tools/diff", "--label=a b"]),
            (r#"diff --color=always -I "^ *#" "a\"b\n""#, &["diff", "--color=always", "-I", "^ *#", "a\"b\\n"]),
            ("diff '' \"\"", &["diff", "", ""]),
            ("diff $HOME `x` a;b", &["diff", "$HOME", "`x`", "a;b"]),
            (" less -FRX  '+/a b' ", &["less", "-FRX", "+/a b"]),
            ("\"/my programs/less\" ''", &["/my programs/less", ""]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        #[cfg(unix)]
        assert_eq!(words(r"my\ diff \'").unwrap(), ["my diff", "'"]);
        for broken in ["'a", "\"a", "\"a\\"] {
            assert!(words(broken).is_err(), "{broken}");
        }
    }
}
