//! Events inside brackets.

use super::stage::{Flow, Stage};
use super::{Event, EventKind, Layout, Parser, empty, event};
use crate::scan::{Cause, Failure, TokenKind};

impl<'t> Parser<'t> {
    pub(super) fn flow_entry(&mut self, flow: Flow) -> Result<Event<'t>, Failure> {
        self.separator(flow, |kind| matches!(kind, TokenKind::FlowSequenceEnd))?;
        let token = self.scanner.peek()?;
        let spot = token.spot;
        match token.kind {
            TokenKind::FlowSequenceEnd => Ok(self.end(spot)),
            TokenKind::Key => {
                self.scanner.take();
                self.then(Stage::FlowEntry(Flow::Entry));
                self.stages.push(Stage::PairKey);
                Ok(event(spot, EventKind::MappingStart(Layout::Pair)))
            }
            _ => {
                self.then(Stage::FlowEntry(Flow::Entry));
                self.node(false, false)
            }
        }
    }

    /// Skips the `,` before an entry that is not the first.
    pub(super) fn separator(&mut self, flow: Flow, is_end: fn(&TokenKind) -> bool) -> Result<(), Failure> {
        if flow == Flow::Bracket {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        match &token.kind {
            TokenKind::FlowEntry => drop(self.scanner.take()),
            kind if is_end(kind) => {}
            TokenKind::Value if flow == Flow::Bare => return Err(Failure::new(token.spot.at, Cause::LateFlowValue)),
            _ => return Err(Failure::new(token.spot.at, Cause::NoFlowSeparator)),
        }
        Ok(())
    }

    pub(super) fn pair_key(&mut self) -> Result<Event<'t>, Failure> {
        let token = self.scanner.peek()?;
        let spot = token.spot;
        self.then(Stage::PairValue);
        match self.scanner.peek()?.kind {
            // go-yaml skips the token, and reports it as missing later.
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                self.scanner.take();
                Ok(empty(spot))
            }
            _ => self.node(false, false),
        }
    }

    pub(super) fn flow_key(&mut self, flow: Flow) -> Result<Event<'t>, Failure> {
        self.separator(flow, |kind| matches!(kind, TokenKind::FlowMappingEnd))?;
        let token = self.scanner.peek()?;
        let spot = token.spot;
        match token.kind {
            TokenKind::FlowMappingEnd => Ok(self.end(spot)),
            TokenKind::Key => {
                self.scanner.take();
                self.then(Stage::FlowValue);
                let token = self.scanner.peek()?;
                match token.kind {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => Ok(empty(token.spot)),
                    _ => self.node(false, false),
                }
            }
            _ => {
                self.then(Stage::NoFlowValue);
                self.node(false, false)
            }
        }
    }

    /// The value of a pair inside brackets, or an empty node.
    pub(super) fn flow_value(&mut self, then: Stage, is_end: fn(&TokenKind) -> bool) -> Result<Event<'t>, Failure> {
        let token = self.scanner.peek()?;
        let spot = token.spot;
        let is_value = matches!(token.kind, TokenKind::Value);
        self.then(then);
        if !is_value {
            return Ok(empty(spot));
        }
        self.colon = Some(spot.behind(1).at);
        self.scanner.take();
        if is_end(&self.scanner.peek()?.kind) {
            return Ok(empty(spot));
        }
        self.node(false, false)
    }
}
