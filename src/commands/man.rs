//! `man`: manual pages generated from the definition of the command line.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Command, ValueHint};
use reconcile_core::text::similar;
use reconcile_report::{EXIT_SUCCESS, Failure};

use crate::output::atomic_file::AtomicFile;
use crate::output::direct_file::Readers;
use crate::output::unwritable;
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    the pages were printed or written
  2    there is no such command, or a page cannot be written

Examples:
  # Read the page of a command
  kubectl reconcile man diff | man -l -

  # Write all pages, one for each command, to where `man` finds them
  kubectl reconcile man --dir ~/.local/share/man/man1";

/// `man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Command whose page to print, such as `diff` or `config view`; without one, the page of the program
    #[arg(conflicts_with = "dir", num_args = 0..)]
    pub command: Vec<String>,
    /// Write the pages of the program and of all its commands to this directory, which is created if needed
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Output")]
    pub dir: Option<PathBuf>,
}

/// The program as `man` knows it.
const PROGRAM: &str = "kubectl-reconcile";

/// Prints a page, or writes all. A reader that went away ends the run quietly.
pub(super) fn run(args: &ManArgs, program: Command, terminal: &Terminal) -> Result<u8, Failure> {
    match &args.dir {
        Some(folder) => write_all(program, folder)?,
        None => drop(terminal.data(&one(program, &args.command)?)),
    }
    Ok(EXIT_SUCCESS)
}

fn one(program: Command, path: &[String]) -> Result<String, Failure> {
    let mut command = program;
    for name in path {
        let shown = || command.get_subcommands().filter(|command| !command.is_hide_set());
        let Some(found) = shown().find(|command| command.get_name() == name) else {
            let names: Vec<&str> = shown().map(Command::get_name).collect();
            let hint = match similar(name, names.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "see the commands with `kubectl reconcile --help`".to_owned(),
            };
            return Err(Failure::refused(format!("there is no command `{}`", path.join(" ")), hint));
        };
        command = found.clone();
    }
    Ok(page(command, path)?)
}

/// Writes the page of each command.
fn write_all(program: Command, folder: &Path) -> Result<(), Failure> {
    let shown = |path: &Path| path.display().to_string();
    fs::create_dir_all(folder).map_err(|error| Failure::invalid(unwritable(&shown(folder), &error)))?;
    let mut left = vec![(program, Vec::<String>::new())];
    while let Some((command, path)) = left.pop() {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let below = path.iter().cloned().chain([sub.get_name().to_owned()]);
            left.push((sub.clone(), below.collect()));
        }
        let file = folder.join(format!("{}.1", name_of(&path)));
        let page = page(command, &path)?;
        let written = AtomicFile::open(&file, Readers::Usual).and_then(|file| file.write(page.as_bytes()));
        written.map_err(|error| Failure::invalid(unwritable(&shown(&file), &error)))?;
    }
    Ok(())
}

fn page(command: Command, path: &[String]) -> anyhow::Result<String> {
    let typed = ["kubectl", "reconcile"].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>();
    let command = command.display_name(name_of(path)).bin_name(typed.join(" "));
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let has_commands = command.get_subcommands().any(|sub| !sub.is_hide_set());
    // An empty date would be left out, and the version would stand in its place.
    let version = format!("{PROGRAM} {}", env!("CARGO_PKG_VERSION"));
    let page = clap_mangen::Man::new(command).date("\"\"").source(version).manual("User Commands");
    let mut text = Vec::new();
    let rendered = page
        .render_title(&mut text)
        .and_then(|()| page.render_name_section(&mut text))
        .and_then(|()| page.render_synopsis_section(&mut text))
        .and_then(|()| page.render_description_section(&mut text))
        .and_then(|()| page.render_options_section(&mut text))
        .and_then(|()| if has_commands { page.render_subcommands_section(&mut text) } else { Ok(()) });
    rendered.context("the manual page cannot be made")?;
    Ok(String::from_utf8_lossy(&text).into_owned() + &sections(&after))
}

/// The end of the help as sections of a page: a line without indentation that ends with a colon begins one. Lines are kept as
/// they are.
fn sections(after: &str) -> String {
    let mut page = String::new();
    let mut open = false;
    for line in after.lines() {
        let heading = line.strip_suffix(':').filter(|heading| !heading.starts_with(' ') && !heading.is_empty());
        if heading.is_some() || !open {
            let title = heading.unwrap_or("Notes").to_uppercase();
            page.push_str(if open { ".fi\n" } else { "" });
            let _ = write!(page, ".SH \"{}\"\n.nf\n", escaped(&title));
            open = true;
        }
        if heading.is_none() {
            let _ = writeln!(page, "{}", escaped(line));
        }
    }
    page + if open { ".fi\n" } else { "" }
}

/// Escapes text for roff.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-").replace('"', "\\(dq");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

/// The name of the page of a command: `kubectl-reconcile-config-view`.
fn name_of(path: &[String]) -> String {
    std::iter::once(PROGRAM).chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("-")
}
