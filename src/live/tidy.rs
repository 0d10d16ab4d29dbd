//! Limits the cache folder: removes surplus files, and drafts of runs that were killed.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The most files that are kept.
const MOST_FILES: usize = 1_000;
/// The most bytes that all files may have together.
const MOST_BYTES: u64 = 256 << 20;
/// Age from which a draft is one of a run that was killed.
const OLDEST_DRAFT: Duration = Duration::from_hours(1);

/// Removes abandoned drafts, and the oldest files above the limits. A file that cannot be removed stays.
pub(super) fn tidy(folder: &Path) {
    tidy_at(folder, SystemTime::now(), (MOST_FILES, MOST_BYTES));
}

fn tidy_at(folder: &Path, now: SystemTime, (most_files, most_bytes): (usize, u64)) {
    let drafts = files(folder, "draft")
        .into_iter()
        .filter(|(time, _, _)| now.duration_since(*time).is_ok_and(|age| age > OLDEST_DRAFT));
    let mut kept = files(folder, "json");
    kept.sort_by(|(a, ..), (b, ..)| b.cmp(a));
    let mut bytes = 0_u64;
    let too_many = kept.into_iter().enumerate().filter(|(at, (_, size, _))| {
        bytes = bytes.saturating_add(*size);
        *at >= most_files || bytes > most_bytes
    });
    for (_, _, path) in drafts.chain(too_many.map(|(_, file)| file)) {
        let _ = fs::remove_file(path);
    }
}

/// The files with this extension: time of the last write, size in bytes, and path.
fn files(folder: &Path, extension: &str) -> Vec<(SystemTime, u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension() == Some(OsStr::new(extension)));
    let file = |path: PathBuf| {
        let metadata = fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
        Some((metadata.modified().ok()?, metadata.len(), path))
    };
    paths.filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn file(folder: &Path, name: &str, age: Duration, bytes: usize) {
        let path = folder.join(name);
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        fs::File::open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn drafts_of_killed_runs_go_and_those_under_way_stay() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "old.draft", HOUR * 2, 1);
        file(folder.path(), "new.draft", HOUR / 2, 1);
        file(folder.path(), "old.json", HOUR * 9_000, 1);
        file(folder.path(), "note.txt", HOUR * 9_000, 1);
        tidy(folder.path());
        assert_eq!(names(folder.path()), ["new.draft", "note.txt", "old.json"]);
    }

    #[test]
    fn what_was_written_longest_ago_goes_where_there_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in [("a", 4), ("b", 1), ("c", 3), ("d", 2)] {
            file(folder.path(), &format!("{name}.json"), HOUR * age, 100);
        }
        tidy_at(folder.path(), SystemTime::now(), (3, 1_000));
        assert_eq!(names(folder.path()), ["b.json", "c.json", "d.json"]);
        tidy_at(folder.path(), SystemTime::now(), (3, 250));
        assert_eq!(names(folder.path()), ["b.json", "d.json"]);
    }
}
