use std::ffi::OsStr;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};
use reconcile_report::formats::{FORMATS, Format};
use reconcile_report::{Sort, THEMES, Theme};

use crate::terminal::ColorChoice;
use reconcile_core::text::similar;

/// Flags for the output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "a flag is typed or not")]
pub struct OutputArgs {
    /// Output format, on standard output or in a file: `json=FILE` (repeatable)
    #[arg(short, long, value_name = "FORMAT[=FILE]", default_value = "text", value_parser = TargetParser)]
    pub output: Vec<OutputTarget>,
    /// Print no text; reports requested with `-o` are still written
    #[arg(short, long)]
    pub quiet: bool,
    /// Show everything: all lines of long values, all changes of an object, the contents of objects to be created, all names of the
    /// objects with an equal change, the lines of the rules of roles, and the schemas of CustomResourceDefinitions
    #[arg(long, conflicts_with = "summary")]
    pub full: bool,
    /// Show only the summary
    #[arg(long)]
    pub summary: bool,
    /// Order of the objects; what needs attention always comes last in the text
    #[arg(long, value_name = "ORDER", default_value = "plan")]
    pub sort: SortChoice,
    /// Print the text directly, not through the pager that is used on a terminal
    #[arg(long)]
    pub no_pager: bool,
    /// On a terminal, show how long ago changes were made; elsewhere, show absolute times
    #[arg(long)]
    pub relative_time: bool,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// Flags for the text of a command without reports.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct TextArgs {
    /// Do not shorten values and names to the width of the terminal
    #[arg(long)]
    pub full: bool,
    /// Print the text directly, not through the pager that is used on a terminal
    #[arg(long)]
    pub no_pager: bool,
    /// On a terminal, show how long ago changes were made; elsewhere, show absolute times
    #[arg(long)]
    pub relative_time: bool,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// `--sort`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SortChoice {
    /// As they are applied
    Plan,
    /// By kind, namespace and name
    Kind,
    /// By namespace, kind and name
    Namespace,
    /// By file and line
    Source,
    /// As they are applied, each by itself: equal changes of several objects are not grouped
    Object,
}

impl From<SortChoice> for Sort {
    fn from(choice: SortChoice) -> Self {
        match choice {
            SortChoice::Plan => Self::Plan,
            SortChoice::Kind => Self::Kind,
            SortChoice::Namespace => Self::Namespace,
            SortChoice::Source => Self::Source,
            SortChoice::Object => Self::Object,
        }
    }
}

/// Flags for colours and verbosity.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ConsoleArgs {
    /// When to colour the text
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Colours of the text
    #[arg(long, value_name = "THEME", default_value = "standard", value_parser = themes())]
    pub theme: &'static Theme,
    /// Print details on standard error: from 1, the configuration file, retries and notes; from 6, every request
    #[arg(short = 'v', long = "v", value_name = "N", num_args = 0..=1, default_value = "0", default_missing_value = "1")]
    pub verbosity: u8,
}

/// Reads the name of a theme, and offers all of them to the help and to completion.
fn themes() -> impl TypedValueParser<Value = &'static Theme> {
    let known = THEMES.iter().map(|theme| PossibleValue::new(theme.name).help(theme.help));
    PossibleValuesParser::new(known).try_map(|name| Theme::named(&name).ok_or("there is no such theme"))
}

/// A format and its destination.
#[derive(Clone, Debug)]
pub struct OutputTarget {
    /// The format.
    pub format: &'static Format,
    /// The file, or `None` for standard output, which `-` names as well.
    pub file: Option<String>,
}

impl FromStr for OutputTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (text, None),
        };
        let Some(format) = Format::named(name) else {
            if let Some(meant) = similar(name, FORMATS.iter().map(|format| format.name)) {
                return Err(format!("`{name}` is not a format: did you mean `{meant}`?"));
            }
            let names: Vec<String> = FORMATS.iter().map(|format| format!("`{}`", format.name)).collect();
            return Err(format!("`{name}` is not a format: use {}", alternatives(&names)));
        };
        if file == Some("") {
            return Err("the file name after `=` is missing".to_owned());
        }
        Ok(Self { format, file: file.filter(|file| *file != "-").map(ToOwned::to_owned) })
    }
}

/// `a, b or c`
fn alternatives(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Parses `FORMAT[=FILE]`, and offers the formats to the help and to completion.
#[derive(Clone)]
struct TargetParser;

impl TypedValueParser for TargetParser {
    type Value = OutputTarget;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<OutputTarget, clap::Error> {
        OutputTarget::from_str.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.help))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_can_be_named_and_sent_to_a_file() {
        for format in FORMATS {
            let target: OutputTarget = format.name.parse().unwrap();
            assert_eq!((target.format.name, target.file), (format.name, None));
            let target: OutputTarget = format!("{}=a=b", format.name).parse().unwrap();
            assert_eq!((target.format.name, target.file.as_deref()), (format.name, Some("a=b")));
            let target: OutputTarget = format!("{}=-", format.name).parse().unwrap();
            assert_eq!((target.format.name, target.file), (format.name, None));
        }
    }

    #[test]
    fn an_unknown_format_and_a_missing_file_name_are_explained() {
        let refused = |text: &str| text.parse::<OutputTarget>().unwrap_err();
        let message = refused("xml");
        assert!(message.starts_with("`xml` is not a format: use `text`, `unified`, `json`, "), "{message}");
        assert_eq!(refused("jsn=report.json"), "`jsn` is not a format: did you mean `json`?");
        assert_eq!(refused("json="), "the file name after `=` is missing");
    }
}
