//! `report merge`: reads reports, joins them, and renders the whole.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::cli::{MergeArgs, ReportArgs, ReportCommand};
use crate::diagnostic::Diagnostic;
use crate::report::formats::text::{self, matrix};
use crate::report::{EXIT_INVALID, Merged, Part, merged};
use crate::session::output::{Output, tell};
use crate::terminal::Terminal;
use crate::text::io_reason;

/// The largest report that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// How much is read of all reports together, in bytes.
const IN_ALL: u64 = 1 << 30;

/// Runs the command to its exit code.
pub(super) fn run(ReportArgs { command: ReportCommand::Merge(args) }: &ReportArgs) -> u8 {
    if let Some(target) = args.output.output.iter().find(|target| target.format.needs_the_run()) {
        let problem = Diagnostic::general(format!("`-o {}` needs more than a report holds", target.format.name));
        let hint = "use it in the runs themselves, or another format here";
        tell(&Terminal::new(args.output.console.color, false), &[problem.with_hint(hint)]);
        return EXIT_INVALID;
    }
    let output = match Output::new(&args.output) {
        Ok(output) => output,
        Err(code) => return code,
    };
    match read(args).and_then(|parts| merged(parts).map_err(|problem| vec![problem])) {
        Ok(Merged::One(report)) => {
            output.warn(&report);
            drop(output.text(&text::whole(&report, &output.view)));
            output.finish(&report)
        }
        Ok(Merged::Several(reports)) => {
            drop(output.text(&matrix::whole(&reports, &output.view)));
            output.finish_all(&reports)
        }
        Err(problems) => {
            tell(&output.terminal, &problems);
            EXIT_INVALID
        }
    }
}

/// Reads all files, or says what is wrong with which.
fn read(args: &MergeArgs) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let (mut parts, mut problems, mut left) = (Vec::new(), Vec::new(), IN_ALL);
    for path in &args.files {
        let file = path.to_string_lossy();
        let read = content(path, LARGEST.min(left)).map_err(|message| Diagnostic::of_file(&file, message));
        match read.and_then(|text| Ok((text.len() as u64, Part::read(&file, &text)?))) {
            Ok((length, of_file)) => {
                left = left.saturating_sub(length);
                parts.extend(of_file);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(parts) } else { Err(problems) }
}

/// The content of a file, up to some length.
fn content(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {}", io_reason(&error));
    let file = File::open(path).map_err(unreadable)?;
    let mut text = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > most {
        return Err(format!("larger than {most} bytes, which is most that is read"));
    }
    Ok(text)
}
