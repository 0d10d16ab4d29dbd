//! The tokens of a document, as go-yaml v2 scans them (`scannerc.go`): YAML 1.1, with the limits of that scanner.
//!
//! The text is read byte by byte, once. Tokens borrow from it; a scalar is copied only if it has escapes or several
//! lines. A token that may turn out to be a key waits in a queue until its `:` follows, or can no longer follow.

mod block;
mod cursor;
mod failure;
mod plain;
mod properties;
mod quoted;
mod simple_keys;
mod token;

use std::collections::VecDeque;

use token::{Characters, Level, column};

use crate::text::Advance as _;

pub(super) use failure::{Cause, Failure};
pub use token::Style;
pub(super) use token::{MAX_KEY, Quoted, Spot, Tag, Token, TokenKind};

/// Cuts one document into tokens.
pub(super) struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// The line, from 1.
    line: u32,
    line_start: usize,
    /// An offset on this line and its column, if characters are not bytes.
    counted: (usize, u32),
    characters: Characters,
    /// The column of the innermost block collection; -1 outside of all collections.
    indent: i32,
    indents: Vec<i32>,
    /// True if a token that begins here may be a key. Then tabs are not allowed.
    key_allowed: bool,
    /// The block first, then the open brackets.
    levels: Vec<Level>,
    tokens: VecDeque<Token<'t>>,
    /// Number of tokens that were taken from the queue.
    taken: usize,
    /// True if the kind of the first token in the queue is final.
    is_settled: bool,
    /// The last quoted texts, the latest first.
    last_quoted: [Option<Quoted>; 2],
    /// Buffer in which scalars are assembled.
    scratch: String,
}

impl<'t> Scanner<'t> {
    /// Creates a scanner for a text that ends with a line break and has no byte order mark.
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            line: 1,
            line_start: 0,
            counted: (0, 0),
            characters: Characters::of(text),
            indent: -1,
            indents: Vec::new(),
            key_allowed: true,
            levels: vec![Level { key: None, token: 0 }],
            tokens: VecDeque::with_capacity(16),
            taken: 0,
            is_settled: false,
            last_quoted: [None; 2],
            scratch: String::new(),
        }
    }

    /// Returns the next token without consuming it; [`TokenKind::StreamEnd`] at the end.
    pub(super) fn peek(&mut self) -> Result<&Token<'t>, Failure> {
        if !self.is_settled {
            while self.tokens.is_empty() || self.may_be_key()? {
                self.fetch()?;
            }
            self.is_settled = true;
        }
        Ok(&self.tokens[0])
    }

    /// Consumes the token that [`Self::peek`] returned.
    pub(super) fn take(&mut self) -> Option<Token<'t>> {
        self.is_settled = false;
        self.taken.advance(1);
        self.tokens.pop_front()
    }

    /// Offset of an alias with an invalid name, if there is one in the tokens that were read ahead.
    pub(super) fn wrong_name(&self) -> Option<usize> {
        let wrong = self.tokens.iter().find(|token| matches!(token.kind, TokenKind::Alias(_, false)));
        wrong.map(|token| token.spot.at)
    }

    /// The last quoted text that ends before an offset.
    pub(super) fn quoted_before(&self, at: usize) -> Option<Quoted> {
        self.last_quoted.iter().flatten().find(|quoted| quoted.end <= at).copied()
    }

    /// Reads the next token, and adds it to the queue with the tokens that it implies.
    fn fetch(&mut self) -> Result<(), Failure> {
        self.skip_to_token()?;
        let spot = self.spot();
        self.unroll(column(spot), spot);
        let Some(byte) = self.byte(0) else { return self.indicator(spot, TokenKind::StreamEnd, 0) };
        if spot.column == 0 {
            match byte {
                b'%' => return Err(Failure::new(spot.at, Cause::Directive)),
                b'-' if self.is_indicator(b"---") => return self.indicator(spot, TokenKind::DocumentStart, 3),
                b'.' if self.is_indicator(b"...") => return self.indicator(spot, TokenKind::DocumentEnd, 3),
                _ => {}
            }
        }
        let in_block = self.in_block();
        match byte {
            b'[' => self.open(spot, TokenKind::FlowSequenceStart),
            b'{' => self.open(spot, TokenKind::FlowMappingStart),
            b']' => self.close(spot, TokenKind::FlowSequenceEnd),
            b'}' => self.close(spot, TokenKind::FlowMappingEnd),
            b',' => self.separator(spot),
            b'-' if self.is_blank_or_end(1) => self.entry(spot),
            b'?' if self.is_blank_or_end(1) => self.key(spot),
            b'?' if !in_block => Err(Failure::new(spot.at, Cause::SignInFlow('?'))),
            b':' if !in_block || self.is_blank_or_end(1) => self.value(spot),
            b'*' => self.alias(spot),
            b'&' => self.anchor(spot),
            b'!' => self.tag(spot),
            b'|' if in_block => self.block_scalar(spot, Style::Literal),
            b'>' if in_block => self.block_scalar(spot, Style::Folded),
            b'\'' => self.quoted(spot, Style::SingleQuoted),
            b'"' => self.quoted(spot, Style::DoubleQuoted),
            b'\t' => Err(Failure::new(spot.at, Cause::Tab)),
            b'|' | b'>' | b'%' | b'@' | b'`' => Err(Failure::new(spot.at, Cause::NoToken(char::from(byte)))),
            _ => self.plain(spot),
        }
    }

    /// Skips blanks, comments and line breaks.
    fn skip_to_token(&mut self) -> Result<(), Failure> {
        let start = self.at;
        loop {
            let tabs = !self.in_block() || !self.key_allowed;
            while self.byte(0).is_some_and(|byte| byte == b' ' || tabs && byte == b'\t') {
                self.at.advance(1);
            }
            if self.byte(0) == Some(b'#') {
                self.skip_line();
            }
            if !self.skip_break() {
                return self.check_old_breaks(start, self.at);
            }
            self.key_allowed |= self.in_block();
        }
    }

    /// Ends all collections, and takes an indicator of this length.
    fn indicator(&mut self, spot: Spot, kind: TokenKind<'t>, length: usize) -> Result<(), Failure> {
        self.unroll(-1, spot);
        self.forget_key()?;
        self.key_allowed = false;
        self.at.advance(length);
        self.push(spot, kind);
        Ok(())
    }

    /// Takes a sign of one character.
    fn sign(&mut self, spot: Spot, kind: TokenKind<'t>) {
        self.at.advance(1);
        self.push(spot, kind);
    }

    fn open(&mut self, spot: Spot, kind: TokenKind<'t>) -> Result<(), Failure> {
        self.note_key(spot)?;
        self.levels.push(Level { key: None, token: self.next_token() });
        self.key_allowed = true;
        self.sign(spot, kind);
        Ok(())
    }

    fn close(&mut self, spot: Spot, kind: TokenKind<'t>) -> Result<(), Failure> {
        self.forget_key()?;
        if !self.in_block() {
            self.levels.pop();
        }
        self.key_allowed = false;
        self.sign(spot, kind);
        Ok(())
    }

    fn separator(&mut self, spot: Spot) -> Result<(), Failure> {
        self.forget_key()?;
        self.key_allowed = true;
        self.sign(spot, TokenKind::FlowEntry);
        Ok(())
    }

    /// Begins a block collection outside of brackets, or fails with this cause where none can begin.
    fn begin_block(&mut self, spot: Spot, kind: TokenKind<'t>, cause: Cause) -> Result<(), Failure> {
        if self.in_block() {
            if !self.key_allowed {
                return Err(Failure::new(spot.at, cause));
            }
            self.roll(spot, None, kind);
        }
        Ok(())
    }

    fn entry(&mut self, spot: Spot) -> Result<(), Failure> {
        self.begin_block(spot, TokenKind::BlockSequenceStart, Cause::EntryNotAllowed)?;
        self.forget_key()?;
        self.key_allowed = true;
        self.sign(spot, TokenKind::BlockEntry);
        Ok(())
    }

    /// Scans a `?`.
    fn key(&mut self, spot: Spot) -> Result<(), Failure> {
        self.begin_block(spot, TokenKind::BlockMappingStart, Cause::KeyNotAllowed)?;
        self.forget_key()?;
        self.key_allowed = self.in_block();
        self.sign(spot, TokenKind::Key);
        Ok(())
    }

    /// Scans a `:`. The token before it turns out to be a key, or a `?` preceded it.
    fn value(&mut self, spot: Spot) -> Result<(), Failure> {
        let innermost = self.levels.len().saturating_sub(1);
        if self.can_be_key(innermost)?
            && let Some(key) = self.levels[innermost].key.take()
        {
            let before = self.levels[innermost].token.saturating_sub(self.taken);
            self.tokens.insert(before, Token { spot: key.spot, kind: TokenKind::Key });
            self.roll(key.spot, Some(before), TokenKind::BlockMappingStart);
            self.key_allowed = false;
        } else {
            self.begin_block(spot, TokenKind::BlockMappingStart, Cause::ValueNotAllowed)?;
            self.key_allowed = self.in_block();
        }
        self.sign(spot, TokenKind::Value);
        Ok(())
    }

    /// Begins a block collection if it is indented more than the one around it.
    fn roll(&mut self, spot: Spot, before: Option<usize>, kind: TokenKind<'t>) {
        if self.in_block() && self.indent < column(spot) {
            self.indents.push(self.indent);
            self.indent = column(spot);
            self.tokens.insert(before.unwrap_or(self.tokens.len()), Token { spot, kind });
        }
    }

    /// Ends the block collections that are indented more than a column.
    fn unroll(&mut self, column: i32, spot: Spot) {
        if !self.in_block() {
            return;
        }
        while self.indent > column {
            self.push(spot, TokenKind::BlockEnd);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn push(&mut self, spot: Spot, kind: TokenKind<'t>) {
        self.tokens.push_back(Token { spot, kind });
    }

    /// The number of the token that is added next.
    fn next_token(&self) -> usize {
        self.taken.saturating_add(self.tokens.len())
    }

    fn in_block(&self) -> bool {
        self.levels.len() == 1
    }
}
