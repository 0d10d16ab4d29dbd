//! Parses the spelling of a field to a [`FieldPattern`].

use super::glob::Glob;
use super::pattern::{FieldPattern, MAX_PATTERN, PatternError, Step, ValuePattern, refuse_protected};
use super::rule::MAX_FIELDS;

/// Most steps of a pattern.
const MAX_STEPS: usize = 64;
/// Advice about items of lists.
const ITEMS: &str = "list items are named by their keys, as in `containers[name=app]`";
/// Advice about quotes.
const QUOTES: &str = "names of other characters are quoted, as in `metadata.annotations[\"example.com/owner\"]`";

impl FieldPattern {
    /// Reads a pattern in the spelling in which this tool prints paths.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        check_size(text)?;
        if text.starts_with('/') {
            let hint = "list JSON pointers under `jsonPointers`, or write the path with dots";
            return Err(PatternError::new(format!("`{text}` is a JSON pointer"), hint));
        }
        if text.starts_with('.') {
            let hint =
                "write the path without it, such as `spec.replicas`; list expressions of jq under `jqPathExpressions`";
            return Err(PatternError::new(format!("`{text}` begins with a dot"), hint));
        }
        let mut parser = Parser { text, rest: text };
        let steps = parser.steps()?;
        Self::of(text, steps)
    }

    /// Reads patterns that commas separate: those outside of brackets and quotes.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, PatternError> {
        parts(text).map(Self::parse).collect()
    }

    /// Makes a pattern from its steps. Refuses fields that no rule may ignore.
    pub(super) fn of(text: &str, steps: Vec<Step>) -> Result<Self, PatternError> {
        if steps.is_empty() {
            return Err(PatternError::new("a field cannot be empty", "write a path such as `spec.replicas`"));
        }
        if steps.len() > MAX_STEPS {
            return Err(PatternError::new(format!("a field has at most {MAX_STEPS} steps"), "shorten it"));
        }
        let pattern = Self { text: text.to_owned(), steps };
        refuse_protected(&pattern)?;
        Ok(pattern)
    }
}

/// The parts of a list: between the commas outside of brackets and quotes.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let mut is_quoted = false;
    let mut is_escaped = false;
    text.split(move |c: char| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && is_quoted && !was_escaped;
        match c {
            '"' if !was_escaped => is_quoted = !is_quoted,
            '[' if !is_quoted => depth = depth.saturating_add(1),
            ']' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0 && !is_quoted
    })
}

pub(super) fn check_size(text: &str) -> Result<(), PatternError> {
    if text.len() > MAX_PATTERN {
        return Err(PatternError::new(format!("a field is at most {MAX_PATTERN} bytes long"), "shorten it"));
    }
    Ok(())
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Parser<'t> {
    fn steps(&mut self) -> Result<Vec<Step>, PatternError> {
        let mut steps = Vec::new();
        while !self.rest.is_empty() {
            if let Some(rest) = self.rest.strip_prefix('[') {
                self.rest = rest;
                steps.push(self.bracket()?);
                continue;
            }
            if !steps.is_empty() {
                self.rest = self.rest.strip_prefix('.').ok_or_else(|| self.unexpected("`.`, `[` or the end"))?;
            }
            steps.push(self.name()?);
        }
        Ok(steps)
    }

    fn name(&mut self) -> Result<Step, PatternError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-*$".contains(c);
        let length = self.rest.find(|c: char| !is_part(c)).unwrap_or(self.rest.len());
        if length == 0 {
            return Err(self.unexpected("the name of a field"));
        }
        let name = self.take(length);
        Ok(if name == "*" { Step::Any } else { Step::Field(Glob::new(name)) })
    }

    /// Reads the text behind `[`, up to its `]`.
    fn bracket(&mut self) -> Result<Step, PatternError> {
        let step = if let Some(rest) = self.rest.strip_prefix('=') {
            self.rest = rest;
            Step::Member(self.value()?)
        } else if self.rest.starts_with('"') {
            Step::Field(self.quoted()?)
        } else if self.rest.starts_with("*]") {
            self.take(1);
            Step::Any
        } else if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let length = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let digits = self.take(length);
            let no_position = || self.wrong(&format!("`{digits}` is not a position in a list"), ITEMS);
            Step::Index(digits.parse().map_err(|_| no_position())?)
        } else {
            Step::Item(self.pairs()?)
        };
        self.rest = self.rest.strip_prefix(']').ok_or_else(|| self.unexpected("`]`"))?;
        Ok(step)
    }

    /// `name=app,protocol=TCP`
    fn pairs(&mut self) -> Result<Vec<(String, ValuePattern)>, PatternError> {
        let mut pairs = Vec::new();
        loop {
            let length = self.rest.find(['=', ',', ']', '[', '"']).unwrap_or(self.rest.len());
            let name = self.take(length).trim();
            if name.is_empty() || !self.rest.starts_with('=') {
                let cause = "expected `[key=value]`, `[\"name\"]`, `[=\"member\"]`, `[0]` or `[*]`";
                return Err(self.wrong(cause, ITEMS));
            }
            self.take(1);
            pairs.push((name.to_owned(), self.value()?));
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None => return Ok(pairs),
            }
        }
    }

    fn value(&mut self) -> Result<ValuePattern, PatternError> {
        if self.rest.starts_with('"') {
            return Ok(ValuePattern { glob: self.quoted()?, is_text: true });
        }
        let length = self.rest.find([',', ']', '[', '"']).unwrap_or(self.rest.len());
        let glob = Glob::new(self.take(length).trim());
        Ok(ValuePattern { glob, is_text: false })
    }

    /// Reads a JSON string, in which `*` matches any characters and `\u002a` is a literal star.
    fn quoted(&mut self) -> Result<Glob, PatternError> {
        self.take(1);
        let mut is_escape = false;
        let end = self.rest.find(|c: char| {
            let ends = c == '"' && !is_escape;
            is_escape = c == '\\' && !is_escape;
            ends
        });
        let Some(end) = end else { return Err(self.wrong("a `\"` has no end", QUOTES)) };
        let inside = self.take(end);
        self.take(1);
        let piece = |piece: &str| serde_json::from_str::<String>(&format!("\"{piece}\""));
        let pieces: Result<Vec<String>, _> = inside.split('*').map(piece).collect();
        Ok(Glob::of_pieces(pieces.map_err(|_| self.wrong(&format!("`\"{inside}\"` is not a string of JSON"), QUOTES))?))
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn unexpected(&self, expected: &str) -> PatternError {
        let found = self.rest.chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"));
        self.wrong(&format!("expected {expected}, found {found}"), QUOTES)
    }

    fn wrong(&self, cause: &str, hint: &str) -> PatternError {
        PatternError::new(format!("`{}` is not a field: {cause}", self.text), hint)
    }
}

/// The annotation of a manifest that names fields to ignore: `kubectl-reconcile/ignore: spec.replicas,metadata.annotations[*]`. It
/// counts in manifests only: anybody may annotate the live object, and must not be able to hide it that way.
pub const IGNORE_ANNOTATION: &str = "kubectl-reconcile/ignore";

/// Reads the value of the annotation: fields, separated by commas outside brackets and quotes.
pub fn annotated(text: &str) -> Result<Vec<FieldPattern>, PatternError> {
    let fields: Vec<&str> = parts(text).map(str::trim).filter(|field| !field.is_empty()).collect();
    if fields.is_empty() {
        let message = format!("the annotation `{IGNORE_ANNOTATION}` names no field");
        return Err(PatternError::new(message, "name the fields to ignore, such as `spec.replicas`"));
    }
    if fields.len() > MAX_FIELDS {
        let message = format!("the annotation `{IGNORE_ANNOTATION}` names more than {MAX_FIELDS} fields");
        return Err(PatternError::new(message, "name what they have in common, such as `metadata.annotations[*]`"));
    }
    fields.into_iter().map(FieldPattern::parse).collect()
}

#[cfg(test)]
mod tests {
    use structured_merge::{FieldPath, PathElement, Scalar};

    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        FieldPattern::parse(text).unwrap_err().message
    }

    #[test]
    fn every_path_that_is_printed_can_be_read_and_means_itself() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let key = |pairs: &[(&str, Scalar)]| {
            PathElement::key(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())))
        };
        let spec = FieldPath::of(&["spec"]);
        let paths = [
            spec.field("replicas"),
            spec.field("containers").child(key(&[("name", text("app"))])).field("image"),
            spec.field("ports").child(key(&[("containerPort", Scalar::Int(80)), ("protocol", text("TCP"))])),
            spec.field("env").child(key(&[("name", text("a \"b\", [c]=*\\"))])).field("value"),
            FieldPath::of(&["metadata", "annotations", "example.com/owner"]),
            FieldPath::of(&["metadata", "annotations", "a*b \"c\" ] \\ \u{202e}ü"]),
            FieldPath::of(&["metadata", "finalizers"]).child(PathElement::Member(text("example.com/*"))),
            FieldPath::of(&["data", "0start"]),
            spec.field("numbers").child(PathElement::Member(Scalar::Int(7))),
            spec.field("flags").child(key(&[("on", Scalar::Bool(true)), ("empty", text(""))])),
            spec.field("args").child(PathElement::Index(3)),
        ];
        for path in &paths {
            let exactly = FieldPattern::exactly(path);
            let read = FieldPattern::parse(&exactly.to_string()).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(read.steps.len(), path.elements().len(), "{path}");
            for (step, element) in read.steps.iter().zip(path.elements()) {
                let matches = match (step, element) {
                    (Step::Field(glob), PathElement::Field(name)) => glob.is_literal() && glob.matches(name),
                    (Step::Index(index), PathElement::Index(at)) => i64::try_from(*index) == Ok(*at),
                    (Step::Member(value), PathElement::Member(member)) => {
                        value.glob.is_literal() && value.matches(member)
                    }
                    (Step::Item(pairs), PathElement::Key(keys)) => {
                        pairs.iter().zip(keys).all(|((name, value), (key, actual))| {
                            name == key && value.glob.is_literal() && value.matches(actual)
                        })
                    }
                    _ => false,
                };
                assert!(matches, "{path}: {step:?} {element:?}");
            }
        }
    }

    #[test]
    fn what_is_no_field_is_explained() {
        assert_eq!(refused(""), "a field cannot be empty");
        assert_eq!(refused("/spec/replicas"), "`/spec/replicas` is a JSON pointer");
        assert_eq!(refused(".spec.replicas"), "`.spec.replicas` begins with a dot");
        assert_eq!(
            refused("spec..replicas"),
            "`spec..replicas` is not a field: expected the name of a field, found `.`"
        );
        assert_eq!(refused("spec."), "`spec.` is not a field: expected the name of a field, found the end");
        assert_eq!(refused("spec[name=a"), "`spec[name=a` is not a field: expected `]`, found the end");
        assert_eq!(refused("spec[\"a]"), "`spec[\"a]` is not a field: a `\"` has no end");
        assert_eq!(FieldPattern::parse("spec[\"a]").unwrap_err().hint, QUOTES);
        assert_eq!(
            refused("metadata.annotations.example.com/owner"),
            "`metadata.annotations.example.com/owner` is not a field: expected `.`, `[` or the end, found `/`"
        );
        assert!(refused("spec[]").contains("expected `[key=value]`"));
        assert!(refused("spec[name]").contains("expected `[key=value]`"));
        assert!(refused("spec[\"\\*\"]").contains("is not a string of JSON"));
        assert!(refused("spec[99999999999999999999]").contains("is not a position"));
        assert!(refused(&"a.".repeat(600)).contains("1024 bytes"));
        assert!(refused(&format!("spec{}", ".a".repeat(64))).contains("64 steps"));
    }

    #[test]
    fn commas_outside_of_brackets_separate_fields() {
        let list = |text: &str| -> Vec<String> {
            FieldPattern::parse_list(text).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(list("spec.replicas"), ["spec.replicas"]);
        assert_eq!(list("spec.replicas,metadata.labels"), ["spec.replicas", "metadata.labels"]);
        let ports = "spec.ports[containerPort=80,protocol=TCP]";
        let odd = r#"data["a,]\"[,"],data.b"#;
        assert_eq!(list(&format!("{ports},{odd}")), [ports, r#"data["a,]\"[,"]"#, "data.b"]);
        for wrong in ["", "a,", ",a", "a,,b", "a[,b", "data[\"a,b"] {
            assert!(FieldPattern::parse_list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        let alphabet = ["[", "]", "\"", "\\", "=", ",", ".", "*", "0", "ü", "a", " ", "\u{1f}"];
        let mut text = String::new();
        let mut state = 7_usize;
        for round in 0..20_000 {
            if round % 12 == 0 {
                text.clear();
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(alphabet[(state >> 33) % alphabet.len()]);
            let _ = (FieldPattern::parse(&text), FieldPattern::parse_list(&text));
        }
    }

    #[test]
    fn fields_are_separated_by_commas_outside_of_brackets() {
        let texts = |text: &str| -> Vec<String> { annotated(text).unwrap().iter().map(ToString::to_string).collect() };
        assert_eq!(texts("spec.replicas, metadata.annotations[*],"), ["spec.replicas", "metadata.annotations[*]"]);
        assert_eq!(
            texts("spec.ports[port=80,protocol=TCP].nodePort,data[\"a,]\\\"b\"],spec.x"),
            ["spec.ports[port=80,protocol=TCP].nodePort", "data[\"a,]\\\"b\"]", "spec.x"]
        );
        assert_eq!(annotated(" , ").unwrap_err().message, "the annotation `kubectl-reconcile/ignore` names no field");
        annotated("spec.replicas,kind").unwrap_err();
        annotated(&"spec.a,".repeat(51)).unwrap_err();
    }
}
