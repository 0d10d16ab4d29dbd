use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use reconcile_core::text::visible;

/// Interval at which the live line is drawn. A step that ends before is never shown.
const TICK: Duration = Duration::from_millis(200);

/// The line at the bottom of a terminal that shows the progress of a run.
#[derive(Clone, Debug)]
pub(super) struct Live(ProgressBar);

impl Live {
    /// A line on standard error, not drawn yet.
    pub fn new() -> Self {
        Self(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()))
    }

    /// Starts to show progress of this many steps.
    pub fn begin(&self, what: &str, steps: usize) {
        let template = if steps == 0 {
            "{spinner} {prefix} {elapsed}"
        } else {
            "{spinner} {prefix} {pos}/{len} {elapsed} {wide_msg}"
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        // Each of these calls may draw, so the style comes first.
        self.0.set_style(style);
        self.0.set_prefix(what.to_owned());
        self.0.set_message("");
        self.0.set_length(u64::try_from(steps).unwrap_or(u64::MAX));
        self.0.reset();
        self.0.enable_steady_tick(TICK);
    }

    /// Shows the number of finished steps.
    pub fn at(&self, step: usize) {
        self.0.set_position(u64::try_from(step).unwrap_or(u64::MAX));
    }

    /// Shows what the run waits for, as far as it fits.
    pub fn says(&self, what: &str) {
        self.0.set_message(visible(what).into_owned());
    }

    /// Removes the line.
    pub fn end(&self) {
        self.0.disable_steady_tick();
        self.0.finish_and_clear();
    }

    /// Removes the line while something else is written.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.0.suspend(write)
    }
}
