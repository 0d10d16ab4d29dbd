//! Label selectors as kubectl reads them (apimachinery `pkg/labels/selector.go`).

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::names::{label_key_refused, label_value_refused};

/// A label selector; the empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    text: String,
    /// The keys of labels, with the condition of each.
    requirements: Vec<(String, Condition)>,
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

impl Selector {
    /// Reads `app=web,tier in (a, b),!legacy,size>3`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text);
        let mut parser = Parser(&tokens);
        let requirements = parser.requirements();
        let text = text.trim();
        let requirements = requirements.map_err(|cause| format!("`{text}` is not a label selector: {cause}"))?;
        Ok(Self { text: text.to_owned(), requirements })
    }

    /// Returns true if an object's labels satisfy every requirement.
    pub fn matches(&self, object: &Value) -> bool {
        self.requirements.iter().all(|(label, condition)| condition.holds(object.label(label)))
    }
}

/// Writes the original spelling.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Selector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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

/// The operators. No word has one in it.
const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

/// The operators, and the words between operators and blanks.
fn tokens(mut text: &str) -> Vec<&str> {
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
        tokens.push(token);
        text = rest;
    }
}

/// Reads tokens. It holds the tokens that are not read yet.
struct Parser<'p, 't>(&'p [&'t str]);

impl<'t> Parser<'_, 't> {
    fn requirements(&mut self) -> Result<Vec<(String, Condition)>, String> {
        let mut requirements = Vec::new();
        while self.peek().is_some() {
            if !requirements.is_empty() && !self.take(",") {
                return Err(self.expected("`,` or the end"));
            }
            requirements.push(self.requirement()?);
        }
        Ok(requirements)
    }

    fn requirement(&mut self) -> Result<(String, Condition), String> {
        let is_absent = self.take("!");
        let Some(label) = self.word() else { return Err(self.expected("the key of a label")) };
        if let Some(rule) = label_key_refused(label) {
            return Err(format!("`{label}` cannot be the key of a label: {rule}"));
        }
        let condition = if is_absent { Condition::Absent } else { self.condition()? };
        Ok((label.to_owned(), condition))
    }

    fn condition(&mut self) -> Result<Condition, String> {
        let operator = match self.peek() {
            None | Some(",") => return Ok(Condition::Exists),
            Some(operator @ ("=" | "==" | "!=" | ">" | "<" | "in" | "notin")) => operator,
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
        match self.word() {
            Some(word) => checked(word),
            None if matches!(self.peek(), None | Some(",")) => Ok(String::new()),
            None => Err(self.expected("a value")),
        }
    }

    /// Reads `(a, b)`. A value that is missing before or after a comma is empty.
    fn values(&mut self) -> Result<Vec<String>, String> {
        if !self.take("(") {
            return Err(self.expected("`(`"));
        }
        let mut values = Vec::new();
        loop {
            values.push(self.word().map_or_else(|| Ok(String::new()), checked)?);
            if self.take(")") {
                return Ok(values);
            }
            if !self.take(",") {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    fn peek(&self) -> Option<&'t str> {
        self.0.first().copied()
    }

    fn skip(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }

    /// Takes the next token if it is a word.
    fn word(&mut self) -> Option<&'t str> {
        let word = self.peek().filter(|token| !SIGNS.contains(token))?;
        self.skip();
        Some(word)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_it = self.peek() == Some(sign);
        if is_it {
            self.skip();
        }
        is_it
    }

    fn expected(&self, what: &str) -> String {
        match self.peek() {
            Some(text) => format!("expected {what}, found `{text}`"),
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
        let reported = |selector: &str| Selector::parse(selector).unwrap_err();
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
