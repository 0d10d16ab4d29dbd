use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use crate::client::{InvalidTimeout, RequestTimeout};

/// Flags for waiting until objects are ready.
#[derive(Debug, Args)]
#[command(next_help_heading = "Wait")]
pub struct WaitArgs {
    /// Wait until all objects are ready; stop at the first failure that cannot recover
    #[arg(long)]
    pub wait: bool,
    /// With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]
    #[arg(long, value_name = "DURATION", requires = "wait")]
    pub timeout: Option<WaitTimeout>,
}

impl WaitArgs {
    /// Returns how long to wait, or `None` without `--wait`.
    pub fn duration(&self) -> Option<Duration> {
        self.wait.then(|| self.timeout.unwrap_or_default().0)
    }
}

/// `--timeout`; zero checks once, as in `kubectl wait`.
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
                "`{text}` is not a timeout: give a duration with units (`1m30s`), seconds (`90`), or `0` to check once"
            )),
        }
    }
}
