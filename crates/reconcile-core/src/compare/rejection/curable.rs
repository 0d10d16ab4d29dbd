//! Complaints about custom resources that another definition of their kind may settle. The schema at the field that the server names, and
//! above it, shows whether the demand changes.

use serde_json::{Map, Value};

use crate::request::{Cause, NO_FIELD};

/// The parts of a schema that are about other values, or no demands at all.
const NO_DEMANDS: [&str; 7] =
    ["properties", "items", "additionalProperties", "x-kubernetes-validations", "description", "title", "example"];
/// Demands on a value whose complaints may name any field in it.
const COMPOUND: [&str; 4] = ["allOf", "anyOf", "oneOf", "not"];

/// Returns true if the server, which refuses values for these causes by the schema `live`, may accept them by the schema `coming`.
pub(in crate::compare) fn are_curable(causes: &[Cause], live: &Value, coming: &Value) -> bool {
    !causes.is_empty() && causes.iter().all(|cause| is_curable(cause, live, coming))
}

fn is_curable(cause: &Cause, live: &Value, coming: &Value) -> bool {
    let field = if cause.field == NO_FIELD { "" } else { cause.field.as_str() };
    // The server has rules of its own for the metadata.
    if field == "metadata" || field.starts_with("metadata.") {
        return false;
    }
    let (trail, is_found) = trail([live, coming], field);
    let rules =
        || trail.iter().flat_map(|[live, coming]| rules(live).iter().map(|rule| (rule, has_rule(coming, rule))));
    let said = |(rule, _): &(&Value, bool)| is_said_by(cause, rule);
    if let Some((_, stays)) = rules().find(said) {
        return !stays;
    }
    let differs = |[live, coming]: &[&Value; 2]| own_demands(live) != own_demands(coming);
    let is_compound = |[live, coming]: &[&Value; 2]| COMPOUND.iter().any(|name| live.get(name) != coming.get(name));
    // What is required, and which items are the same, is a demand on the value above.
    let near = trail.iter().rev().take(2).any(differs);
    let above = trail.iter().any(is_compound);
    let is_computed = |(rule, stays): (&Value, bool)| !stays && rule.get("messageExpression").is_some();
    near || above || rules().any(is_computed) || !is_found && trail.last().is_some_and(|[live, coming]| live != coming)
}

/// The two schemas at each step to a field (`spec.ports[1].port`), as far as both have it, and whether that is the whole way.
fn trail<'s>(whole: [&'s Value; 2], mut field: &str) -> (Vec<[&'s Value; 2]>, bool) {
    let mut trail = vec![whole];
    let mut at = whole;
    while !field.is_empty() {
        let Some((next, rest)) = step(at[0], field) else { return (trail, false) };
        let Some((other, _)) = step(at[1], field) else { return (trail, false) };
        at = [next, other];
        trail.push(at);
        field = rest;
    }
    (trail, true)
}

/// The schema one step down, and the rest of the path.
fn step<'s, 'f>(schema: &'s Value, field: &'f str) -> Option<(&'s Value, &'f str)> {
    if let Some(rest) = field.strip_prefix('[') {
        let (_, rest) = rest.split_once(']')?;
        return Some((schema.get("items").or_else(|| schema.get("additionalProperties"))?, rest));
    }
    let field = field.strip_prefix('.').unwrap_or(field);
    let ends = |rest: &&str| rest.is_empty() || rest.starts_with(['.', '[']);
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let named = properties.filter_map(|(name, below)| Some((name, below, field.strip_prefix(name).filter(ends)?)));
    if let Some((_, below, rest)) = named.max_by_key(|(name, ..)| name.len()) {
        return Some((below, rest));
    }
    let end = field.find(['.', '[']).unwrap_or(field.len());
    Some((schema.get("additionalProperties").filter(|below| below.is_object())?, field.get(end..)?))
}

fn rules(schema: &Value) -> &[Value] {
    schema.get("x-kubernetes-validations").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns true if a schema has a rule with the text of this one.
fn has_rule(schema: &Value, rule: &Value) -> bool {
    let text = |rule: &Value| rule.get("rule").and_then(Value::as_str).map(str::trim).map(ToOwned::to_owned);
    rules(schema).iter().any(|other| text(other) == text(rule))
}

/// Returns true if a complaint is in the words of a rule: its message, or, without one, its text.
fn is_said_by(cause: &Cause, rule: &Value) -> bool {
    let text = |name: &str| rule.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    match (text("message"), text("rule")) {
        (Some(message), _) => cause.message.ends_with(message),
        (None, Some(rule)) => cause.message.contains(&format!("failed rule: {rule}")),
        (None, None) => false,
    }
}

/// The demands of a schema on a value itself, without those that say nothing, such as `nullable: false`: the server leaves them out.
fn own_demands(schema: &Value) -> Map<String, Value> {
    let counts = |(name, value): &(&String, &Value)| {
        !NO_DEMANDS.contains(&name.as_str()) && !value.is_null() && **value != Value::Bool(false)
    };
    let whole = |value: &Value| match value.as_f64() {
        Some(number) => Value::from(number),
        None => value.clone(),
    };
    let demands = schema.as_object().into_iter().flatten().filter(counts);
    demands.map(|(name, value)| (name.clone(), whole(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(size: &Value, rule: &Value) -> Value {
        json!({"type": "object", "properties": {"spec": {
            "type": "object", "x-kubernetes-validations": [rule, {"rule": "self.a < 1", "message": "stays"}],
            "properties": {
                "size": size, "fixed": {"type": "string"},
                "map": {"type": "object", "additionalProperties": size},
                "list": {"type": "array", "items": {"type": "object", "properties": {"size": size}}},
            },
        }}})
    }

    fn cause(field: &str, message: &str) -> Cause {
        Cause { reason: "FieldValueInvalid".to_owned(), field: field.to_owned(), message: message.to_owned() }
    }

    #[test]
    fn a_complaint_is_settled_where_its_demand_changes() {
        let one = schema(&json!({"type": "integer", "maximum": 1}), &json!({"rule": "self.b", "message": "goes"}));
        let other = schema(&json!({"type": "integer", "maximum": 2.0}), &json!({"rule": "self.c", "message": "new"}));
        for (field, message, expected) in [
            ("spec.size", "Invalid value: 2: should be less than or equal to 1", true),
            ("spec.map.a-key", "Invalid value: 2: should be less", true),
            ("spec.map[a.key]", "Invalid value: 2: should be less", true),
            ("spec.list[3].size", "Invalid value: 2: should be less", true),
            ("spec.fixed", "Invalid value: 2: must be of type string", false),
            ("spec", "Invalid value: {}: goes", true),
            ("spec", "Invalid value: {}: stays", false),
            ("metadata.name", "Invalid value: a b", false),
            ("spec.unknown.more", "Invalid value: 2: whatever", true),
        ] {
            assert_eq!(are_curable(&[cause(field, message)], &one, &other), expected, "{field}: {message}");
            assert!(!are_curable(&[cause(field, message)], &one, &one.clone()), "{field}: {message}");
        }
        let size = cause("spec.size", "Invalid value: 2: should be less");
        assert!(!are_curable(&[size, cause("spec", "stays")], &one, &other));
        assert!(!are_curable(&[], &one, &other));
    }

    #[test]
    fn a_rule_without_a_message_is_known_by_its_text() {
        let rules = |rules: Value| json!({"x-kubernetes-validations": rules});
        let live = rules(json!([{"rule": "self.a"}, {"rule": "self.b"}]));
        let coming = rules(json!([{"rule": "self.a"}]));
        assert!(are_curable(&[cause("", "Invalid value: {}: failed rule: self.b")], &live, &coming));
        assert!(!are_curable(&[cause("", "Invalid value: {}: failed rule: self.a")], &live, &coming));
        let computed = rules(json!([{"rule": "self.a", "messageExpression": "'no ' + self.b"}]));
        assert!(!are_curable(&[cause("", "Invalid value: {}: no x")], &computed, &coming));
        assert!(are_curable(&[cause("", "Invalid value: {}: no x")], &computed, &rules(json!([]))));
    }
}
