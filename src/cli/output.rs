use std::str::FromStr;

use clap::Args;

use crate::terminal::ColorChoice;

/// How the result is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// `text` or `json`, to a file with `=FILE` (repeatable)
    #[arg(short, long, value_name = "FORMAT[=FILE]", default_value = "text")]
    pub output: Vec<OutputTarget>,
    /// Print no text; reports that were asked for stay
    #[arg(short, long)]
    pub quiet: bool,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// Colours and verbosity.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ConsoleArgs {
    /// When text is coloured
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Tell more on stderr: repeated requests from 1, every request from 6
    #[arg(short = 'v', long = "v", value_name = "N", num_args = 0..=1, default_value = "0", default_missing_value = "1")]
    pub verbosity: u8,
}

/// A format, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputTarget {
    /// The format.
    pub format: Format,
    /// The file; none for stdout.
    pub file: Option<String>,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For machines: the whole report.
    Json,
}

impl FromStr for OutputTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, file) = match text.split_once('=') {
            Some((format, file)) => (format, Some(file)),
            None => (text, None),
        };
        let format = match format {
            "text" => Format::Text,
            "json" => Format::Json,
            other => return Err(format!("`{other}` is not a format: use `text` or `json`")),
        };
        if file == Some("") {
            return Err("the file name behind `=` is missing".to_owned());
        }
        Ok(Self { format, file: file.map(ToOwned::to_owned) })
    }
}
