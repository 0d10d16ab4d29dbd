//! `report merge`: reads reports, joins them, and renders the whole.

use reconcile_report::formats::text::{self, matrix};
use reconcile_report::{MergeInput, Merged, merged};

use crate::cli::{MergeArgs, ReportArgs, ReportCommand};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::report_input::{LARGEST, content};
use reconcile_core::diagnostic::Diagnostic;

/// The most that is read of all reports together, in bytes.
const IN_ALL: u64 = 1 << 30;

/// Runs the command to its exit code.
pub(super) fn run(ReportArgs { command: ReportCommand::Merge(args) }: &ReportArgs) -> Result<u8, Failure> {
    if let Some(target) = args.output.output.iter().find(|target| target.format.needs_the_run()) {
        let message = format!("`-o {}` needs data that a report does not have", target.format.name);
        return Err(Failure::refused(message, "use it in the runs themselves, or choose another format"));
    }
    let output = Output::new(&args.output)?;
    Ok(match merged(read(args)?).map_err(Failure::invalid)? {
        Merged::One(report) => {
            output.warn(&report);
            drop(output.text(&text::whole(&report, &output.view)));
            output.finish(&report)
        }
        Merged::Several(reports) => {
            drop(output.text(&matrix::whole(&reports, &output.view)));
            output.finish_all(&reports)
        }
    })
}

/// Reads all files. The error has one diagnostic for each file that cannot be read.
fn read(args: &MergeArgs) -> Result<Vec<MergeInput>, Vec<Diagnostic>> {
    let (mut parts, mut diagnostics, mut remaining) = (Vec::new(), Vec::new(), IN_ALL);
    for path in &args.files {
        let file = path.to_string_lossy();
        let read = content(path, LARGEST.min(remaining)).map_err(|message| Diagnostic::of_file(&file, message));
        match read.and_then(|text| Ok((text.len() as u64, MergeInput::read(&file, &text)?))) {
            Ok((length, of_file)) => {
                remaining = remaining.saturating_sub(length);
                parts.extend(of_file);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if diagnostics.is_empty() { Ok(parts) } else { Err(diagnostics) }
}
