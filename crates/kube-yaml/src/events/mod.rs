//! The events of a document, which are made from tokens as in go-yaml v2 (`parserc.go`): one for each node, and one for
//! each end of a collection.

mod flow;
mod stage;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use stage::{Flow, Stage};

use super::scan::{Cause, Failure, Quoted, Scanner, Spot, Style, Tag, TokenKind};
use crate::text::Advance as _;

/// Kind of an event.
pub(super) enum EventKind<'t> {
    Scalar(Cow<'t, str>, Style),
    /// An alias, with the number of its anchor; `None` if the anchor does not exist.
    Alias(Option<usize>),
    SequenceStart(Layout),
    MappingStart(Layout),
    /// The end of the innermost collection.
    End,
    /// The end of the document. Text behind it is not read.
    DocumentEnd,
}

/// Layout of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Entries on lines of their own.
    Block,
    /// Entries in brackets.
    Flow,
    /// A single pair inside the brackets of a sequence (`[a: 1]`).
    Pair,
}

/// An event with its position: that of the node behind its anchor and tag.
pub(super) struct Event<'t> {
    pub spot: Spot,
    /// Offsets of the node in the text.
    pub extent: Extent,
    /// The number of the anchor, 0 if there is none.
    pub anchor: usize,
    pub tag: Option<Tag>,
    pub kind: EventKind<'t>,
}

/// Offsets of a node in the text.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Its first byte, with its anchor and tag.
    pub begin: usize,
    /// Its first byte behind its anchor and tag: for a block scalar, that of `|` or `>`.
    pub at: usize,
    /// Behind a scalar or an alias. A collection ends with its last entry, or with its bracket.
    pub end: usize,
}

/// The anchor and the tag before a node, and the position behind them, if there are any.
type Properties<'t> = (Option<&'t str>, Option<Tag>, Option<Spot>);

/// Makes events from the tokens of a document.
pub(super) struct Parser<'t> {
    scanner: Scanner<'t>,
    stages: Vec<Stage>,
    /// Offsets of the open brackets.
    brackets: Vec<usize>,
    anchors: HashMap<&'t str, usize>,
    anchor_count: usize,
    /// Offset of the last node.
    pub last_node: usize,
    /// Offset behind the `-` of the last item that began.
    pub dash: usize,
    /// Offset behind the last `:` of a value, until it is taken.
    pub colon: Option<usize>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut stages = Vec::with_capacity(16);
        stages.push(Stage::DocumentStart);
        Self {
            scanner: Scanner::new(text),
            stages,
            brackets: Vec::new(),
            anchors: HashMap::new(),
            anchor_count: 0,
            last_node: 0,
            dash: 0,
            colon: None,
        }
    }

    /// Offset of the innermost open bracket.
    pub(super) fn bracket(&self) -> Option<usize> {
        self.brackets.last().copied()
    }

    /// The last quoted text that ends before an offset.
    pub(super) fn quoted_before(&self, at: usize) -> Option<Quoted> {
        self.scanner.quoted_before(at)
    }

    /// The next event; `None` behind the end of the document.
    pub(super) fn next_event(&mut self) -> Result<Option<Event<'t>>, Failure> {
        let Some(stage) = self.stages.last().copied() else { return Ok(None) };
        let event = match stage {
            Stage::DocumentStart => return self.document(),
            Stage::DocumentEnd => {
                let spot = self.scanner.peek()?.spot;
                // go-yaml reads ahead this far, and fails at an invalid name.
                if let Some(alias) = self.scanner.wrong_name() {
                    return Err(Failure::new(alias, Cause::Name));
                }
                self.stages.pop();
                event(spot, EventKind::DocumentEnd)
            }
            Stage::BlockEntry => self.block_entry()?,
            Stage::IndentlessEntry => self.indentless_entry()?,
            Stage::BlockKey => self.block_key()?,
            Stage::BlockValue => self.block_value()?,
            Stage::FlowEntry(flow) => self.flow_entry(flow)?,
            Stage::PairKey => self.pair_key()?,
            Stage::PairValue => self
                .flow_value(Stage::PairEnd, |kind| matches!(kind, TokenKind::FlowEntry | TokenKind::FlowSequenceEnd))?,
            Stage::PairEnd => {
                let spot = self.scanner.peek()?.spot;
                self.stages.pop();
                event(spot, EventKind::End)
            }
            Stage::FlowKey(flow) => self.flow_key(flow)?,
            Stage::FlowValue => self.flow_value(Stage::FlowKey(Flow::Entry), |kind| {
                matches!(kind, TokenKind::FlowEntry | TokenKind::FlowMappingEnd)
            })?,
            Stage::NoFlowValue => {
                let spot = self.scanner.peek()?.spot;
                self.then(Stage::FlowKey(Flow::Bare));
                empty(spot)
            }
        };
        Ok(Some(event))
    }

    /// The root; `None` if there is no content.
    fn document(&mut self) -> Result<Option<Event<'t>>, Failure> {
        self.then(Stage::DocumentEnd);
        match self.scanner.peek()?.kind {
            TokenKind::StreamEnd => {
                self.stages.clear();
                return Ok(None);
            }
            TokenKind::DocumentStart => {
                self.scanner.take();
                let token = self.scanner.peek()?;
                if matches!(token.kind, TokenKind::DocumentStart | TokenKind::DocumentEnd | TokenKind::StreamEnd) {
                    return Ok(Some(empty(token.spot)));
                }
            }
            _ => {}
        }
        self.node(true, false).map(Some)
    }

    fn block_entry(&mut self) -> Result<Event<'t>, Failure> {
        let token = self.scanner.peek()?;
        let spot = token.spot;
        match token.kind {
            TokenKind::BlockEntry => {
                self.dash = spot.behind(1).at;
                self.scanner.take();
                let token = self.scanner.peek()?;
                match token.kind {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => Ok(empty(spot.behind(1))),
                    _ => self.node(true, false),
                }
            }
            TokenKind::BlockEnd => Ok(self.end(spot)),
            _ => Err(Failure::new(spot.at, Cause::NoBlockEntry)),
        }
    }

    fn indentless_entry(&mut self) -> Result<Event<'t>, Failure> {
        let token = self.scanner.peek()?;
        let spot = token.spot;
        if !matches!(token.kind, TokenKind::BlockEntry) {
            self.stages.pop();
            return Ok(event(spot, EventKind::End));
        }
        self.dash = spot.behind(1).at;
        self.scanner.take();
        match self.scanner.peek()?.kind {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(empty(spot.behind(1)))
            }
            _ => self.node(true, false),
        }
    }

    fn block_key(&mut self) -> Result<Event<'t>, Failure> {
        let token = self.scanner.peek()?;
        let spot = token.spot;
        match token.kind {
            TokenKind::Key => {
                self.scanner.take();
                self.then(Stage::BlockValue);
                self.block_content(spot)
            }
            TokenKind::BlockEnd => Ok(self.end(spot)),
            _ => Err(Failure::new(spot.at, Cause::NoBlockKey)),
        }
    }

    fn block_value(&mut self) -> Result<Event<'t>, Failure> {
        let token = self.scanner.peek()?;
        let spot = token.spot;
        let is_value = matches!(token.kind, TokenKind::Value);
        self.then(Stage::BlockKey);
        if !is_value {
            return Ok(empty(spot));
        }
        self.colon = Some(spot.behind(1).at);
        self.scanner.take();
        self.block_content(spot)
    }

    /// The key or value of a block mapping behind its indicator.
    fn block_content(&mut self, spot: Spot) -> Result<Event<'t>, Failure> {
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => Ok(empty(spot)),
            _ => self.node(true, true),
        }
    }

    /// A node with its anchor and tag.
    fn node(&mut self, in_block: bool, may_be_indentless: bool) -> Result<Event<'t>, Failure> {
        let token = self.scanner.peek()?;
        let begin = token.spot.at;
        if let TokenKind::Alias(name, _) = &token.kind {
            let spot = token.spot;
            let number = self.anchors.get(name).copied();
            let end = spot.behind(name.len().saturating_add(1)).at;
            self.scanner.take();
            let extent = Extent { begin, at: begin, end };
            return Ok(Event { extent, ..event(spot, EventKind::Alias(number)) });
        }
        let (anchor, tag, behind) = self.properties()?;
        let token = self.scanner.peek()?;
        let mut spot = token.spot;
        self.last_node = spot.at;
        let mut at = spot.at;
        let mut end = spot.at;
        let kind = match token.kind {
            TokenKind::BlockEntry if may_be_indentless => {
                self.stages.push(Stage::IndentlessEntry);
                EventKind::SequenceStart(Layout::Block)
            }
            TokenKind::Scalar(..) => match self.scanner.take().map(|token| token.kind) {
                Some(TokenKind::Scalar(text, style, content, behind)) => {
                    (spot, end) = (content, behind);
                    EventKind::Scalar(text, style)
                }
                _ => return Err(Failure::new(spot.at, Cause::NoNode)),
            },
            TokenKind::FlowSequenceStart => self.open(spot, Stage::FlowEntry(Flow::Bracket)),
            TokenKind::FlowMappingStart => self.open(spot, Stage::FlowKey(Flow::Bracket)),
            TokenKind::BlockSequenceStart if in_block => self.open(spot, Stage::BlockEntry),
            TokenKind::BlockMappingStart if in_block => self.open(spot, Stage::BlockKey),
            _ => {
                spot = behind.ok_or(Failure::new(spot.at, Cause::NoNode))?;
                (at, end) = (spot.at, spot.at);
                EventKind::Scalar(Cow::Borrowed(""), Style::Plain)
            }
        };
        let anchor = anchor.map_or(0, |name| {
            self.anchor_count.advance(1);
            self.anchors.insert(name, self.anchor_count);
            self.anchor_count
        });
        Ok(Event { spot, extent: Extent { begin, at, end }, anchor, tag, kind })
    }

    /// Takes the anchor and the tag before a node.
    fn properties(&mut self) -> Result<Properties<'t>, Failure> {
        let (mut anchor, mut known_tag, mut behind) = (None, None, None);
        loop {
            let token = self.scanner.peek()?;
            let length = match &token.kind {
                TokenKind::Anchor(name) if anchor.is_none() => {
                    anchor = Some(*name);
                    name.len().saturating_add(1)
                }
                TokenKind::Tag(Tag::Undeclared, _) if known_tag.is_none() => {
                    return Err(Failure::new(token.spot.at, Cause::TagHandle));
                }
                TokenKind::Tag(tag, length) if known_tag.is_none() => {
                    known_tag = Some(tag.clone());
                    *length
                }
                _ => return Ok((anchor, known_tag, behind)),
            };
            behind = Some(token.spot.behind(length));
            self.scanner.take();
        }
    }

    /// Consumes the token that opens a collection.
    fn open(&mut self, spot: Spot, stage: Stage) -> EventKind<'t> {
        self.scanner.take();
        self.stages.push(stage);
        match stage {
            Stage::FlowEntry(_) | Stage::FlowKey(_) => self.brackets.push(spot.at),
            _ => {}
        }
        match stage {
            Stage::FlowEntry(_) => EventKind::SequenceStart(Layout::Flow),
            Stage::BlockEntry => EventKind::SequenceStart(Layout::Block),
            Stage::FlowKey(_) => EventKind::MappingStart(Layout::Flow),
            _ => EventKind::MappingStart(Layout::Block),
        }
    }

    /// Consumes the token that ends a collection.
    fn end(&mut self, spot: Spot) -> Event<'t> {
        self.scanner.take();
        if matches!(self.stages.pop(), Some(Stage::FlowEntry(_) | Stage::FlowKey(_))) {
            self.brackets.pop();
        }
        event(spot, EventKind::End)
    }

    fn then(&mut self, stage: Stage) {
        if let Some(last) = self.stages.last_mut() {
            *last = stage;
        }
    }
}

/// The numbers of the anchors that aliases refer to. Only their values are copied: copying those of all anchors would
/// be quadratic for anchors inside each other.
pub(super) fn aliased(text: &str) -> HashSet<usize> {
    let mut aliased = HashSet::new();
    if !text.contains('*') || !text.contains('&') {
        return aliased;
    }
    let mut parser = Parser::new(text);
    while let Ok(Some(event)) = parser.next_event() {
        if let EventKind::Alias(Some(anchor)) = event.kind {
            aliased.insert(anchor);
        }
    }
    aliased
}

fn event(spot: Spot, kind: EventKind) -> Event {
    let at = spot.at;
    Event { spot, extent: Extent { begin: at, at, end: at }, anchor: 0, tag: None, kind }
}

/// An empty node.
fn empty<'t>(spot: Spot) -> Event<'t> {
    event(spot, EventKind::Scalar(Cow::Borrowed(""), Style::Plain))
}
