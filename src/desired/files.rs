//! Finds and reads the files behind `-f`. All problems are collected.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{InputProblem, SourceText};

/// Name under which standard input appears in messages and reports.
pub const STDIN: &str = "stdin";

/// Largest input that is read, in bytes: 1 GiB.
pub const MAX_INPUT: u64 = 1 << 30;

/// The bytes of one file.
#[derive(Debug)]
pub struct Input {
    /// Its name as the user would write it.
    pub name: Arc<str>,
    /// What it holds.
    pub text: SourceText,
}

/// Reads every path: a file whatever its ending, a directory's `.json`, `.yaml` and `.yml` files in lexical order (with
/// those of its subdirectories when `recursive`), the files that a glob matches, or `-` for standard input.
pub fn load(paths: &[String], recursive: bool) -> Result<Vec<Input>, Vec<InputProblem>> {
    let mut inputs = Vec::new();
    let mut problems = Vec::new();
    let mut stdin_is_read = false;
    for path in paths {
        if path == "-" {
            if std::mem::replace(&mut stdin_is_read, true) {
                problems.push(InputProblem::general("standard input can be read only once, `-f -` is given twice"));
                continue;
            }
            collect(STDIN, read_bounded(std::io::stdin().lock()), &mut inputs, &mut problems);
            continue;
        }
        match find(path, recursive) {
            Err(problem) => problems.push(problem),
            Ok(files) => {
                for file in files {
                    let content = std::fs::File::open(&file).and_then(read_bounded);
                    collect(&file.to_string_lossy(), content, &mut inputs, &mut problems);
                }
            }
        }
    }
    if problems.is_empty() { Ok(inputs) } else { Err(problems) }
}

fn collect(name: &str, content: std::io::Result<Vec<u8>>, inputs: &mut Vec<Input>, problems: &mut Vec<InputProblem>) {
    match content {
        Ok(bytes) => inputs.push(Input { name: name.into(), text: bytes.into() }),
        Err(error) => problems.push(InputProblem::of_file(name, format!("cannot be read: {}", reason(&error)))),
    }
}

fn read_bounded(from: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The reason alone, without the operating system's number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn find(path: &str, recursive: bool) -> Result<Vec<PathBuf>, InputProblem> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => directory(path, recursive),
        Ok(_) => Ok(vec![PathBuf::from(path)]),
        Err(_) if path.contains(['*', '?', '[']) => matching(path),
        Err(error) => Err(InputProblem::of_file(path, format!("cannot be read: {}", reason(&error)))),
    }
}

fn matching(pattern: &str) -> Result<Vec<PathBuf>, InputProblem> {
    let paths = glob::glob(pattern)
        .map_err(|error| InputProblem::of_file(pattern, format!("is not a valid pattern: {}", error.msg)))?;
    let found: Vec<PathBuf> = paths.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    if found.is_empty() {
        return Err(InputProblem::of_file(pattern, "the pattern matches no file"));
    }
    Ok(found)
}

fn directory(path: &str, recursive: bool) -> Result<Vec<PathBuf>, InputProblem> {
    let mut files = Vec::new();
    let mut visited = BTreeSet::new();
    walk(Path::new(path), recursive, &mut visited, &mut files)
        .map_err(|(at, error)| InputProblem::of_file(&at, format!("cannot be read: {}", reason(&error))))?;
    if files.is_empty() {
        let below = if recursive { " or below it" } else { "" };
        let problem =
            InputProblem::of_file(path, format!("no `.yaml`, `.yml` or `.json` file in this directory{below}"));
        return Err(if recursive { problem } else { problem.with_hint("pass `-R` to search its subdirectories too") });
    }
    Ok(files)
}

/// Every directory is entered once, by its real path, so that links that lead in circles end.
fn walk(
    directory: &Path,
    recursive: bool,
    visited: &mut BTreeSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), (String, std::io::Error)> {
    let at = |error| (directory.to_string_lossy().into_owned(), error);
    if !visited.insert(directory.canonicalize().map_err(at)?) {
        return Ok(());
    }
    let mut entries: Vec<_> = std::fs::read_dir(directory).map_err(at)?.collect::<Result<_, _>>().map_err(at)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            if recursive {
                walk(&path, recursive, visited, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json") {
            files.push(path);
        }
    }
    Ok(())
}
