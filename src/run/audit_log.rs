//! `--audit-log`: reads the audit logs of an API server, line by line, once the questions about the objects are known.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::panic::resume_unwind;
use std::path::PathBuf;

use flate2::bufread::MultiGzDecoder;
use jiff::Timestamp;
use reconcile_core::audit::{AuditLine, AuditRead, AuditSearch};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{Discovery, Resolution, Target};
use reconcile_core::object::usual_plurals;
use reconcile_core::text::{io_reason, one_line};
use reconcile_report::{AuditQuestions, Audited, Failure};
use structured_merge::{GroupVersionKind, ObjectKey};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::run::contexts::ChosenContexts;

/// Longest line that is read, in bytes.
const LONGEST: usize = 16 << 20;
/// The part of a file that is read at once, in bytes.
const PART: usize = 1 << 20;
/// The first bytes of a compressed file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The warning of a run that was interrupted while it read the logs.
const INTERRUPTED: &str = "no users are named: the run was interrupted before the audit log was read to its end";
/// Longest name of a file in a warning, in characters.
const NAME: usize = 200;

/// The plural names that resources have or may have, by the kinds of their objects.
pub(crate) type PluralNames = HashMap<GroupVersionKind, Vec<String>>;

/// The plural names that the server has.
pub(crate) fn plural_names<'t>(targets: impl Iterator<Item = &'t Target>) -> PluralNames {
    let resources = targets.filter_map(|target| target.resource.as_deref().ok());
    resources.map(|resource| (resource.gvk.clone(), vec![resource.plural.clone()])).collect()
}

/// The plural names without a server: those of definitions, and otherwise those that are usual.
pub(crate) fn usual_plural_names<'t>(targets: impl Iterator<Item = &'t Target>, defined: &Discovery) -> PluralNames {
    let names = |gvk: &GroupVersionKind| match defined.resolve(gvk) {
        Resolution::Known(resource) => vec![resource.plural.clone()],
        _ => usual_plurals(&gvk.kind),
    };
    targets.map(|target| (target.key.gvk.clone(), names(&target.key.gvk))).collect()
}

/// Logs that were opened and not read yet.
#[derive(Default)]
pub(crate) struct AuditLogs {
    files: RefCell<Vec<(String, File)>>,
}

/// A search in logs, as far as they were read.
struct LogSearch {
    search: AuditSearch,
    /// The earliest request that was seen.
    begin: Option<Timestamp>,
    warnings: Vec<String>,
}

/// The lines of one log that were skipped.
#[derive(Default)]
struct Skipped {
    broken: usize,
    long: usize,
    /// True if the last line is not complete.
    is_cut: bool,
}

impl AuditLogs {
    /// Opens the files, so that nothing is compared if one of them cannot be read. The log of one cluster says nothing about another.
    pub fn open(paths: &[PathBuf], contexts: &ChosenContexts) -> Result<Self, Failure> {
        if !paths.is_empty() && contexts.are_several() {
            let message = "`--audit-log` and several contexts cannot be combined: a log is of one cluster";
            return Err(Failure::refused(message, "run it once for each context, with the log of its cluster"));
        }
        let mut files = Vec::new();
        let mut unreadable = Vec::new();
        for path in paths {
            let name = path.to_string_lossy().into_owned();
            match File::open(path).and_then(|file| Ok((file.metadata()?.is_dir(), file))) {
                Ok((false, file)) => files.push((name, file)),
                Ok((true, _)) => unreadable.push(Diagnostic::of_file(&name, "cannot be read: it is a directory")),
                Err(error) => {
                    unreadable.push(Diagnostic::of_file(&name, format!("cannot be read: {}", io_reason(&error))));
                }
            }
        }
        if unreadable.is_empty() { Ok(Self { files: RefCell::new(files) }) } else { Err(unreadable.into()) }
    }

    /// Names the users in the owners and removals of these objects; `ours` is the name of our own manager. Returns warnings about the
    /// logs, which can be read once. Once `stop` is cancelled, nobody is named: the rest of the logs could name others.
    pub async fn name_users<A: Audited>(
        &self,
        objects: &mut [A],
        plurals: &PluralNames,
        ours: &str,
        stop: &CancellationToken,
    ) -> Vec<String> {
        let files = self.files.take();
        if files.is_empty() {
            return Vec::new();
        }
        let plurals = |key: &ObjectKey| plurals.get(&key.gvk).map(Vec::as_slice).unwrap_or_default();
        let (questions, search) = AuditQuestions::of(objects, plurals, ours);
        let reading = stop.clone();
        let reading = spawn_blocking(move || LogSearch::in_files(search, files, &reading));
        // A pipe may have nothing to read for any time: the thread is left alone then.
        let searched = tokio::select! {
            searched = reading => searched,
            () = stop.cancelled() => return vec![INTERRUPTED.to_owned()],
        };
        let searched = searched.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
        if stop.is_cancelled() {
            return vec![INTERRUPTED.to_owned()];
        }
        questions.answer(&searched.search, objects);
        let begins_late = searched.begins_late();
        searched.warnings.into_iter().chain(begins_late).collect()
    }
}

impl LogSearch {
    /// Reads the files one after the other.
    fn in_files(search: AuditSearch, files: Vec<(String, File)>, stop: &CancellationToken) -> Self {
        let mut all = Self { search, begin: None, warnings: Vec::new() };
        for (name, file) in files {
            let name = format!("audit log `{}`", one_line(&name, NAME));
            let mut skipped = Skipped::default();
            let read = reader(file).and_then(|mut reader| all.read(&mut *reader, &mut skipped, stop));
            let Skipped { broken, long, is_cut } = skipped;
            if broken > 0 {
                let what =
                    if broken == 1 { "1 line is no event".to_owned() } else { format!("{broken} lines are no events") };
                all.warnings.push(format!("{name}: {what} of `audit.k8s.io/v1`, skipped"));
            }
            if long > 0 {
                let what = if long == 1 { "1 line is".to_owned() } else { format!("{long} lines are") };
                all.warnings.push(format!("{name}: {what} longer than 16 MiB, skipped"));
            }
            if is_cut {
                all.warnings.push(format!("{name}: the last line is not complete, skipped"));
            }
            // Anybody may have written what was not read.
            if broken > 0 || long > 0 || is_cut || read.is_err() {
                all.search.has_gaps();
            }
            if let Err(error) = read {
                all.warnings.push(format!("{name} cannot be read to its end: {}", io_reason(&error)));
            }
        }
        all
    }

    /// Reads the lines of one log. Reads are not parsed, except for the first event, which says when the log begins.
    fn read(&mut self, log: &mut dyn BufRead, skipped: &mut Skipped, stop: &CancellationToken) -> io::Result<()> {
        let mut line = Vec::new();
        let mut has_events = false;
        while !stop.is_cancelled() {
            line.clear();
            let most = u64::try_from(LONGEST).unwrap_or(u64::MAX).saturating_add(1);
            if log.take(most).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if line.len() > LONGEST && !line.ends_with(b"\n") {
                skipped.long = skipped.long.saturating_add(1);
                log.skip_until(b'\n')?;
                continue;
            }
            let AuditLine { received, read } = AuditLine::read(&line, !has_events);
            has_events |= received.is_some();
            self.begin = received.into_iter().chain(self.begin).min();
            match read {
                AuditRead::Write(event) => self.search.take(&event),
                // The server is about to write the rest of the last line.
                AuditRead::Broken if has_events && !line.ends_with(b"\n") => skipped.is_cut = true,
                AuditRead::Broken => skipped.broken = skipped.broken.saturating_add(1),
                AuditRead::Other => {}
            }
        }
        Ok(())
    }

    /// The warning if the log begins after the first write that is asked about.
    fn begins_late(&self) -> Option<String> {
        let reach = self.search.reach()?;
        let Some(begin) = self.begin else { return Some("the audit log has no events".to_owned()) };
        let begin = Timestamp::from_second(begin.as_second()).ok().filter(|begin| begin.as_second() > reach)?;
        Some(format!("the audit log begins at {begin}: users who wrote to the objects earlier are not in it"))
    }
}

/// A reader of a log, which may be compressed.
fn reader(mut file: File) -> io::Result<Box<dyn BufRead>> {
    let mut head = Vec::new();
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut head)?;
    let is_compressed = head == GZIP;
    let content = BufReader::with_capacity(PART, Cursor::new(head).chain(file));
    Ok(if is_compressed {
        Box::new(BufReader::with_capacity(PART, MultiGzDecoder::new(content)))
    } else {
        Box::new(content)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use test_control_plane::gzip;

    use super::*;

    fn warnings(content: &[u8]) -> Vec<String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        LogSearch::in_files(AuditSearch::default(), vec![("a\nb".to_owned(), file)], &CancellationToken::new()).warnings
    }

    #[test]
    fn lines_that_cannot_be_read_are_counted() {
        let event = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"1","stage":"ResponseStarted","requestURI":"/","verb":"get",
            "user":{},"requestReceivedTimestamp":"2026-11-20T10:00:00Z","stageTimestamp":"2026-11-20T10:00:00Z"}"#.replace('\n', " ");
        let text = |text: &str| text.as_bytes().to_vec();
        let long = [vec![b' '; LONGEST], b"\n{".to_vec()].concat();
        let longer = [vec![b'x'; LONGEST + 1], b"\n".to_vec(), vec![b'y'; 2 * LONGEST]].concat();
        for (content, expected) in [
            (Vec::new(), vec![]),
            (text("\n \r\n"), vec![]),
            (
                text(&format!("{{}}\nplain\n{event}\n{event}")),
                vec!["2 lines are no events of `audit.k8s.io/v1`, skipped"],
            ),
            (longer, vec!["2 lines are longer than 16 MiB, skipped"]),
            (long, vec!["1 line is no event of `audit.k8s.io/v1`, skipped"]),
            (text(&format!("{event}\n{}", &event[..100])), vec!["the last line is not complete, skipped"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|text| format!("audit log `a b`: {text}")).collect();
            for content in [gzip(&content), content] {
                assert_eq!(warnings(&content), expected);
            }
        }
    }

    /// A reader of a pipe in which nothing is written waits until it is closed.
    #[cfg(unix)]
    #[tokio::test]
    async fn an_interrupt_ends_the_wait_for_a_pipe_and_names_nobody() {
        use reconcile_report::ObjectReport;

        let (reader, _writer) = io::pipe().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(reader));
        let logs = AuditLogs { files: RefCell::new(vec![("pipe".to_owned(), file)]) };
        let stop = CancellationToken::new();
        let to_cancel = stop.clone();
        tokio::spawn(async move { to_cancel.cancel() });
        let (objects, plurals): (&mut [ObjectReport], _) = (&mut [], PluralNames::new());
        let named = logs.name_users(objects, &plurals, "us", &stop);
        let warnings = tokio::time::timeout(Duration::from_secs(20), named).await.unwrap();
        assert_eq!(warnings, [INTERRUPTED]);
    }

    /// A compressed log can be a thousand times as long; it needs no more memory.
    #[test]
    fn compressed_logs_are_read_as_they_are_unpacked() {
        let bomb = gzip(&vec![b'0'; 300 << 20]);
        assert!(bomb.len() < 2 << 20);
        assert_eq!(warnings(&bomb), ["audit log `a b`: 1 line is longer than 16 MiB, skipped"]);
        let mut cut = gzip("{}\n".repeat(1000).as_bytes());
        cut.truncate(cut.len() - 4);
        let found = warnings(&cut);
        assert!(found.last().unwrap().starts_with("audit log `a b` cannot be read to its end: "), "{found:?}");
        let twice = [gzip(b"{}\n"), gzip(b"{}\n")].concat();
        assert_eq!(warnings(&twice), ["audit log `a b`: 2 lines are no events of `audit.k8s.io/v1`, skipped"]);
    }
}
