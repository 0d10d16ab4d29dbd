//! Text on standard output, page by page where a person reads it on a terminal.

use std::sync::{Mutex, PoisonError};

use reconcile_report::Styled;

use crate::terminal::{Closed, Pager, Terminal};

/// The way of text to standard output. The pager starts with the first text.
#[derive(Default)]
pub(crate) struct Paging(Mutex<PagerState>);

#[derive(Default)]
enum PagerState {
    /// To the terminal.
    #[default]
    Direct,
    /// To a pager, once there is any.
    Wanted,
    /// To this one.
    Begun(Pager),
}

impl Paging {
    /// With a pager, if this person has one.
    pub fn wanted() -> Self {
        Self(Mutex::new(PagerState::Wanted))
    }

    /// Shows text.
    pub fn show(&self, text: &Styled, terminal: &Terminal) -> Result<(), Closed> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, PagerState::Wanted) && !text.is_empty() {
            *state = Pager::start().map_or(PagerState::Direct, PagerState::Begun);
        }
        match &mut *state {
            PagerState::Begun(pager) => pager.write(&terminal.painted(text)),
            PagerState::Direct | PagerState::Wanted => terminal.text(text),
        }
    }
}
