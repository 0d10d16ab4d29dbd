use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use crate::client::{InvalidTimeout, RequestTimeout};

/// Whether readiness is waited for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Wait")]
pub struct WaitArgs {
    /// Wait until everything is ready; the first failure that can't pass ends it
    #[arg(long)]
    pub wait: bool,
    /// With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]
    #[arg(long, value_name = "TIME", requires = "wait")]
    pub timeout: Option<WaitTimeout>,
}

impl WaitArgs {
    /// How long to wait, if at all.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        self.wait.then(|| self.timeout.unwrap_or_default().0)
    }
}

/// `--timeout`: zero is one look, as `kubectl wait` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeout(pub Duration);

impl Default for WaitTimeout {
    fn default() -> Self {
        Self(Duration::from_mins(5))
    }
}

impl FromStr for WaitTimeout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(RequestTimeout::Within(timeout)) => Ok(Self(timeout)),
            Ok(RequestTimeout::Unbounded) => Ok(Self(Duration::ZERO)),
            Err(too_long @ InvalidTimeout::TooLong(_)) => Err(too_long.to_string()),
            Err(InvalidTimeout::NotADuration(_)) => Err(format!(
                "`{text}` is not a timeout: give a duration with units (`1m30s`), seconds (`90`), or `0` for one look"
            )),
        }
    }
}
