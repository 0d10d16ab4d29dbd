//! Label selectors as kubectl reads them (apimachinery `pkg/labels/selector.go`).

use std::fmt;

use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::names::{label_key_refused, label_value_refused};

/// A label selector; the empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    text: String,
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    label: String,
    condition: Condition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

/// A selector that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{selector}` is not a label selector: {cause}")]
pub struct SelectorError {
    /// The whole selector.
    pub selector: String,
    /// The cause.
    pub cause: String,
}

impl Selector {
    /// Reads `app=web,tier in (a, b),!legacy,size>3`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let tokens = tokens(text);
        let mut parser = Parser(&tokens);
        let requirements = parser.requirements();
        let requirements = requirements.map_err(|cause| SelectorError { selector: text.trim().to_owned(), cause })?;
        Ok(Self { text: text.trim().to_owned(), requirements })
    }

    /// Returns true if an object's labels satisfy every requirement.
    pub fn matches(&self, object: &Value) -> bool {
        self.requirements.iter().all(|requirement| requirement.condition.holds(object.label(&requirement.label)))
    }
}

/// Writes the original spelling.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    fn holds(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.iter().any(|one| one == value)),
            Self::NotIn(values) => value.is_none_or(|value| values.iter().all(|one| one != value)),
            Self::Greater(than) => number().is_some_and(|number| number > *than),
            Self::Less(than) => number().is_some_and(|number| number < *than),
        }
    }
}

/// An operator, or a word between operators and blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Sign(&'t str),
    Word(&'t str),
}

const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn tokens(mut text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    loop {
        text = text.trim_start_matches([' ', '\t', '\r', '\n']);
        if text.is_empty() {
            return tokens;
        }
        let sign = SIGNS.iter().find(|sign| text.starts_with(**sign));
        let ends = |c: char| "=!(),>< \t\r\n".contains(c);
        let length = sign.map_or_else(|| text.find(ends).unwrap_or(text.len()), |sign| sign.len());
        let (token, rest) = text.split_at(length);
        tokens.push(if sign.is_some() { Token::Sign(token) } else { Token::Word(token) });
        text = rest;
    }
}

/// Reads tokens. It holds the tokens that are not read yet.
struct Parser<'p, 't>(&'p [Token<'t>]);

impl<'t> Parser<'_, 't> {
    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        while let Some(token) = self.peek() {
            if !requirements.is_empty() && token != Token::Sign(",") {
                return Err(self.expected("`,` or the end"));
            }
            if !requirements.is_empty() {
                self.skip();
            }
            requirements.push(self.requirement()?);
        }
        Ok(requirements)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let is_absent = self.take("!");
        let Some(Token::Word(label)) = self.peek() else { return Err(self.expected("the key of a label")) };
        self.skip();
        if let Some(rule) = label_key_refused(label) {
            return Err(format!("`{label}` cannot be the key of a label: {rule}"));
        }
        let condition = if is_absent { Condition::Absent } else { self.condition()? };
        Ok(Requirement { label: label.to_owned(), condition })
    }

    fn condition(&mut self) -> Result<Condition, String> {
        let operator = match self.peek() {
            None | Some(Token::Sign(",")) => return Ok(Condition::Exists),
            Some(Token::Sign(sign @ ("=" | "==" | "!=" | ">" | "<")) | Token::Word(sign @ ("in" | "notin"))) => sign,
            Some(_) => return Err(self.expected("`=`, `!=`, `in`, `notin`, `>` or `<`")),
        };
        self.skip();
        Ok(match operator {
            "=" | "==" => Condition::In(vec![self.value()?]),
            "!=" => Condition::NotIn(vec![self.value()?]),
            "in" => Condition::In(self.values()?),
            "notin" => Condition::NotIn(self.values()?),
            sign => {
                let value = self.value()?;
                let number = value.parse().map_err(|_| format!("`{value}` is not a whole number"))?;
                if sign == ">" { Condition::Greater(number) } else { Condition::Less(number) }
            }
        })
    }

    /// Reads one value; a missing one is empty.
    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            None | Some(Token::Sign(",")) => Ok(String::new()),
            Some(Token::Word(word)) => {
                self.skip();
                checked(word)
            }
            Some(Token::Sign(_)) => Err(self.expected("a value")),
        }
    }

    /// Reads `(a, b)`. A value that is missing before or after a comma is empty.
    fn values(&mut self) -> Result<Vec<String>, String> {
        if !self.take("(") {
            return Err(self.expected("`(`"));
        }
        let mut values = Vec::new();
        loop {
            values.push(match self.peek() {
                Some(Token::Word(word)) => {
                    self.skip();
                    checked(word)?
                }
                _ => String::new(),
            });
            if self.take(")") {
                return Ok(values);
            }
            if !self.take(",") {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.0.first().copied()
    }

    fn skip(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_it = self.peek() == Some(Token::Sign(sign));
        if is_it {
            self.skip();
        }
        is_it
    }

    fn expected(&self, what: &str) -> String {
        match self.peek() {
            Some(Token::Sign(text) | Token::Word(text)) => format!("expected {what}, found `{text}`"),
            None => format!("expected {what}, found the end"),
        }
    }
}

fn checked(value: &str) -> Result<String, String> {
    match label_value_refused(value) {
        Some(rule) => Err(format!("`{value}` cannot be the value of a label: {rule}")),
        None => Ok(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn matches(selector: &str) -> bool {
        let object = json!({"metadata": {"labels": {"app": "web", "tier": "front", "size": "3"}}});
        Selector::parse(selector).unwrap().matches(&object)
    }

    #[test]
    fn every_operator_of_the_grammar_works() {
        for yes in
            ["", "app=web", "app==web,tier", "tier in (back, front)", "app notin (x)", "!legacy", "size>2", "x!=1"]
        {
            assert!(matches(yes), "{yes}");
        }
        for no in ["app=db", "!app", "tier in (back)", "tier notin (front)", "size<3", "legacy", "app!=web"] {
            assert!(!matches(no), "{no}");
        }
    }

    /// The examples of apimachinery's own tests (`TestSelectorParse`, `TestParserLookahead`), and some more.
    #[test]
    fn the_grammar_is_apimachinerys() {
        for accepted in [
            "",
            " ",
            "x=a,y=b,z=c",
            "x!=a,y=b",
            "x=",
            "x= ",
            "x=,z= ",
            "x= ,z= ",
            "!x",
            "x>1",
            "x>1,z<5",
            "a in (xyz)",
            "x in (abc,def,xyz)",
            "x in (abc,)",
            "x in (,)",
            "x in ()",
            "x notin (a,b),y",
            "in",
            "in in (in)",
            "notin=notin",
            "x in (a, b ) , y",
            "! x",
            "x == a",
            "example.com/x=y",
            "x\t=\na",
        ] {
            assert!(Selector::parse(accepted).is_ok(), "{accepted}: {:?}", Selector::parse(accepted));
        }
        for refused in [
            "x=a||y=b",
            "x==a==b",
            "!x=a",
            "x<a",
            "x in",
            "x in (",
            "x in (a",
            "x (a)",
            ",",
            "x,",
            ",x",
            "x,,y",
            "x=(a)",
            "x notin a",
            "a b",
            "=web",
            "size>big",
            "app=we b",
            "-x",
            "x>",
            "x=-a",
            "x in (a b)",
            "x=!a",
            "a/b/c=d",
            "x>-1",
            "x in (=)",
            "!",
        ] {
            assert!(Selector::parse(refused).is_err(), "{refused}: {:?}", Selector::parse(refused));
        }
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let reported = |selector: &str| Selector::parse(selector).unwrap_err().to_string();
        assert_eq!(
            reported("a b"),
            "`a b` is not a label selector: expected `=`, `!=`, `in`, `notin`, `>` or `<`, found `b`"
        );
        assert_eq!(reported("x in (a"), "`x in (a` is not a label selector: expected `,` or `)`, found the end");
        assert_eq!(reported("x>big"), "`x>big` is not a label selector: `big` is not a whole number");
    }

    #[test]
    fn empty_values_match_empty_labels() {
        let object = json!({"metadata": {"labels": {"x": ""}}});
        for selector in ["x=", "x in (a,)", "x in ()", "x in (,)", "x", "y!="] {
            assert!(Selector::parse(selector).unwrap().matches(&object), "{selector}");
        }
        assert!(!Selector::parse("y=").unwrap().matches(&object));
    }
}
