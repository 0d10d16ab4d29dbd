//! Label selectors as kubectl reads them (apimachinery `pkg/labels/selector.go`).

use serde_json::Value;

/// A label selector; the empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
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

/// A selector that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{part}` is not a label selector")]
pub struct SelectorError {
    /// The part that can't be read.
    pub part: String,
}

impl Selector {
    /// Reads `app=web,tier in (a, b),!legacy,size>3`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let parts = split(text).into_iter().map(str::trim).filter(|part| !part.is_empty());
        Ok(Self { requirements: parts.map(requirement).collect::<Result<_, _>>()? })
    }

    /// Whether an object's labels satisfy every requirement.
    #[must_use]
    pub fn matches(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        self.requirements.iter().all(|requirement| {
            let value = labels.and_then(|labels| labels.get(&requirement.label)).and_then(Value::as_str);
            requirement.condition.holds(value)
        })
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

/// Splits at commas outside parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn requirement(part: &str) -> Result<Requirement, SelectorError> {
    let error = || SelectorError { part: part.to_owned() };
    let (label, condition) = if let Some(label) = part.strip_prefix('!') {
        (label, Condition::Absent)
    } else if let Some((label, values)) = part.split_once('(') {
        let values = values.strip_suffix(')').ok_or_else(error)?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        match label.split_whitespace().collect::<Vec<_>>().as_slice() {
            [label, "in"] => (*label, Condition::In(values)),
            [label, "notin"] => (*label, Condition::NotIn(values)),
            _ => return Err(error()),
        }
    } else if let Some((label, value)) = part.split_once("!=") {
        (label, Condition::NotIn(vec![value.trim().to_owned()]))
    } else if let Some((label, value)) = part.split_once('=') {
        (label, Condition::In(vec![value.trim_start_matches('=').trim().to_owned()]))
    } else if let Some((label, value)) = part.split_once('>') {
        (label, Condition::Greater(value.trim().parse().map_err(|_| error())?))
    } else if let Some((label, value)) = part.split_once('<') {
        (label, Condition::Less(value.trim().parse().map_err(|_| error())?))
    } else {
        (part, Condition::Exists)
    };
    let label = label.trim();
    let values_are_plain = match &condition {
        Condition::In(values) | Condition::NotIn(values) => values.iter().all(|value| is_label_value(value)),
        _ => true,
    };
    if !is_label_name(label) || !values_are_plain {
        return Err(error());
    }
    Ok(Requirement { label: label.to_owned(), condition })
}

fn is_label_name(text: &str) -> bool {
    let name = text.rsplit_once('/').map_or(text, |(_, name)| name);
    !name.is_empty() && is_label_value(name) && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

fn is_label_value(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && edge(text.chars().next())
        && edge(text.chars().last())
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

    #[test]
    fn broken_selectors_are_errors_that_name_the_part() {
        for broken in ["a b", "app in (x", "=web", "size>big", "app=we b", "-x"] {
            assert!(Selector::parse(broken).is_err(), "{broken}");
        }
    }
}
