use std::borrow::Cow;
use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Parser};

use super::kuberc::first_kuberc;
use super::mistyped::explained;
use crate::terminal::{ColorChoice, Terminal};
use reconcile_core::text::visible_line;
use reconcile_report::Role;

/// A command line as it was typed, to which defaults of a configuration can be added.
#[derive(Debug)]
pub struct Typed<C> {
    /// The flags that were typed, without those of a configuration.
    pub cli: C,
    arguments: Vec<OsString>,
    matches: ArgMatches,
}

/// A flag that a configuration sets, as arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addition<'a> {
    /// Its long name.
    pub flag: &'a str,
    /// `--flag` or `--flag=value`, perhaps several times.
    pub arguments: &'a [OsString],
}

impl<C: Parser> Typed<C> {
    /// Parses the arguments of the process. Prints help or an error, and exits, where that is all there is to do.
    pub fn parse() -> Self {
        let arguments = first_kuberc(asking_for_help(std::env::args_os().collect()));
        Self::of(arguments.clone())
            .unwrap_or_else(|error| end(&explained(error, &arguments, &C::command()), &arguments))
    }

    fn of(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        let mut command = C::command();
        let matches = command.try_get_matches_from_mut(&arguments)?;
        let cli = C::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok(Self { cli, arguments, matches })
    }

    /// Adds the flags that a configuration sets. Typed flags win, also over a flag that excludes them; a flag that the
    /// command does not have, or that says nothing without another one, is left out. The position of a flag that cannot be added is
    /// returned, with what was typed.
    pub(crate) fn with(self, additions: &[Addition<'_>]) -> (C, Option<usize>) {
        let program = C::command();
        let typed =
            self.matches.subcommand().and_then(|(name, matches)| Some((program.find_subcommand(name)?, matches)));
        let Some((command, matches)) = typed else { return (self.cli, None) };
        let fits = |addition: &&(usize, &Addition<'_>)| is_free(command, matches, addition.1.flag);
        let wanted: Vec<(usize, &Addition<'_>)> = additions.iter().enumerate().collect();
        let wanted: Vec<(usize, &Addition<'_>)> = wanted.iter().filter(fits).copied().collect();
        if wanted.is_empty() {
            return (self.cli, None);
        }
        if let Ok(all) = self.added(&wanted) {
            return (all, None);
        }
        // One by one: a flag may need another one that comes later.
        let mut cli = None;
        let mut added = Vec::new();
        let mut left = wanted;
        loop {
            let before = left.len();
            let mut waiting = Vec::new();
            for addition in left {
                added.push(addition);
                match self.added(&added) {
                    Ok(more) => cli = Some(more),
                    Err(error) => {
                        added.pop();
                        if error.kind() != ErrorKind::MissingRequiredArgument {
                            return (self.cli, Some(addition.0));
                        }
                        waiting.push(addition);
                    }
                }
            }
            left = waiting;
            if left.is_empty() || left.len() == before {
                return (cli.unwrap_or(self.cli), None);
            }
        }
    }

    fn added(&self, additions: &[(usize, &Addition<'_>)]) -> Result<C, clap::Error> {
        // Behind the name of the command, which comes first.
        let (command, rest) = self.arguments.split_at(self.arguments.len().min(2));
        let more = additions.iter().flat_map(|(_, addition)| addition.arguments.iter());
        let arguments: Vec<&OsString> = command.iter().chain(more).chain(rest).collect();
        let matches = C::command().try_get_matches_from(arguments)?;
        C::from_arg_matches(&matches)
    }
}

/// Prints help or an error, and ends the process. An error quotes arguments, which may be names of files that others chose.
fn end(error: &clap::Error, arguments: &[OsString]) -> ! {
    let is_plain = |argument: &OsString| matches!(visible_line(&argument.to_string_lossy()), Cow::Borrowed(_));
    if arguments.iter().all(is_plain) {
        error.exit();
    }
    Terminal::new(ColorChoice::Never, false).note(Role::Error, error.to_string().trim_end());
    std::process::exit(error.exit_code())
}

/// `help diff` for `diff --help`, as kubectl and git have it.
fn asking_for_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|command| command == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    arguments
}

/// Returns true if the command has the flag, and neither it nor one that excludes it was typed.
fn is_free(command: &Command, matches: &ArgMatches, flag: &str) -> bool {
    let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(flag)) else { return false };
    let is_typed =
        |id: &str| matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable));
    let excludes = |typed: &&clap::Arg| {
        command.get_arg_conflicts_with(arg).iter().any(|other| other.get_id() == typed.get_id())
            || command.get_arg_conflicts_with(typed).iter().any(|other| other.get_id() == arg.get_id())
    };
    !is_typed(arg.get_id().as_str())
        && !command.get_arguments().filter(excludes).any(|other| is_typed(other.get_id().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::EvidenceChoice;
    use crate::commands::diff::DiffArgs;
    use crate::commands::{Cli, Command as Subcommand};

    fn typed(arguments: &[&str]) -> Typed<Cli> {
        Typed::of(std::iter::once(&"kubectl-reconcile").chain(arguments).map(OsString::from).collect()).unwrap()
    }

    fn diff(typed: Typed<Cli>, additions: &[(&str, &str)]) -> DiffArgs {
        let arguments: Vec<[OsString; 1]> = additions.iter().map(|(_, argument)| [OsString::from(argument)]).collect();
        let additions: Vec<Addition<'_>> =
            additions.iter().zip(&arguments).map(|((flag, _), arguments)| Addition { flag, arguments }).collect();
        match typed.with(&additions).0.command {
            Subcommand::Diff(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_typed_wins() {
        let additions = [("evidence", "--evidence=read-only"), ("show-unmanaged", "--show-unmanaged")];
        let args = diff(typed(&["diff", "-f", "a"]), &additions);
        assert!(args.compare.show_unmanaged && args.compare.evidence.evidence == EvidenceChoice::ReadOnly);
        let args = diff(typed(&["diff", "-f", "a", "--evidence", "server"]), &additions);
        assert!(args.compare.show_unmanaged && args.compare.evidence.evidence == EvidenceChoice::Server);
    }

    #[test]
    fn flags_that_do_not_fit_the_command_line_are_left_out() {
        let additions =
            [("timeout", "--timeout=1m"), ("wait", "--wait"), ("recursive", "--recursive"), ("quiet", "--quiet")];
        let args = diff(typed(&["diff", "-k", "a"]), &additions);
        assert!(args.output.quiet && !args.input.recursive && !args.wait && args.timeout.is_none());
        let args = diff(typed(&["diff", "-f", "a", "--apply"]), &additions);
        assert!(args.wait && args.timeout.is_some() && args.input.recursive);
        let (Cli { command: Subcommand::Man(_) }, None) =
            typed(&["man"]).with(&[Addition { flag: "quiet", arguments: &[] }])
        else {
            panic!("a command without the flag")
        };
    }
}
