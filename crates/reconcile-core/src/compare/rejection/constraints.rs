//! The demands of a definition on values beyond their types: `required`, `enum`, bounds, lengths, patterns and embedded objects. Its
//! complaints are those of the server (kube-openapi `pkg/validation/validate`, apiextensions-apiserver
//! `pkg/apiserver/validation/validation.go`), to which `allOf` and its like, formats and CEL rules are left.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::embedded;
use super::patterns::Patterns;
use crate::request::Cause;

/// Maximum number of causes of one manifest.
const MOST_CAUSES: usize = 100;
/// Length of the messages of one manifest, in bytes, after which no more causes are looked for: each may list thousands of values.
const MOST_TEXT: usize = 1024 * 1024;

/// The causes for which the server will refuse a custom resource whose version has this schema. The server sets the defaults of the
/// schema first, reads `metadata` by its own rules, and takes no `status` from a manifest. What is as it was in the object before may stay so,
/// but for what the whole object requires (KEP-4008).
pub(super) fn causes(object: &Value, before: Option<&Value>, schema: &Value, patterns: &Patterns) -> Vec<Cause> {
    let mut check = Check { found: Vec::new(), text: 0, patterns, matched: HashMap::new() };
    if let (Value::Object(fields), Some(properties)) = (object, schema.get("properties").and_then(Value::as_object)) {
        let own = |name: &str| !matches!(name, "apiVersion" | "kind" | "metadata" | "status");
        check.required(fields, schema, "", own);
        for (name, value) in fields.iter().filter(|(name, _)| own(name)) {
            if let Some(schema) = properties.get(name) {
                check.value(value, before.and_then(|before| before.get(name)), schema, name);
            }
        }
    }
    check.found
}

struct Check<'s> {
    found: Vec<Cause>,
    /// The length of their messages, in bytes.
    text: usize,
    patterns: &'s Patterns,
    /// The results by pattern and text: aliases repeat values.
    matched: HashMap<(&'s str, &'s str), bool>,
}

impl<'s> Check<'s> {
    fn value(&mut self, value: &'s Value, before: Option<&Value>, schema: &'s Value, path: &str) {
        if self.is_full() || value.is_null() || before == Some(value) {
            return;
        }
        self.allowed(value, schema, path);
        match value {
            Value::Object(fields) => self.fields(fields, before, schema, path),
            Value::Array(items) => {
                self.size("items", items.len(), schema, ["minItems", "maxItems"], path);
                if let Some(item_schema) = schema.get("items") {
                    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
                    let keys: Vec<&str> = keys.into_iter().flatten().filter_map(Value::as_str).collect();
                    let before = by_keys(before, &keys);
                    for (index, item) in items.iter().enumerate() {
                        let before = before.get(&keys_of(item, &keys)).copied();
                        self.value(item, before, item_schema, &format!("{path}[{index}]"));
                    }
                }
            }
            Value::String(text) => self.text(text, schema, path),
            Value::Number(_) => self.number(value, schema, path),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn fields(&mut self, fields: &'s Map<String, Value>, before: Option<&Value>, schema: &'s Value, path: &str) {
        if schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
            let room = MOST_CAUSES.saturating_sub(self.found.len());
            self.found.extend(embedded::causes(fields, path).into_iter().take(room));
        }
        self.size("properties", fields.len(), schema, ["minProperties", "maxProperties"], path);
        self.required(fields, schema, path, |_| true);
        for (name, value) in fields {
            let own = schema.get("properties").and_then(|properties| properties.get(name));
            if let Some(schema) = own.or_else(|| schema.get("additionalProperties")) {
                let before = before.and_then(|before| before.get(name));
                self.value(value, before, schema, &format!("{path}.{name}"));
            }
        }
    }

    /// Looks for fields that are missing and have no default.
    fn required(&mut self, fields: &Map<String, Value>, schema: &Value, path: &str, counts: impl Fn(&str) -> bool) {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let default = |name: &str| schema.get("properties")?.get(name)?.get("default");
        for name in names.filter(|name| counts(name) && !fields.contains_key(*name) && default(name).is_none()) {
            let field = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            self.add("FieldValueRequired", "Required value".to_owned(), &field);
        }
    }

    fn allowed(&mut self, value: &Value, schema: &Value, path: &str) {
        let Some(allowed) = schema.get("enum").and_then(Value::as_array) else { return };
        if !allowed.iter().any(|one| one == value || (one.is_number() && one.as_f64() == value.as_f64())) {
            let text = |one: &Value| one.as_str().map_or_else(|| one.to_string(), ToOwned::to_owned);
            let names: Vec<String> = allowed.iter().map(|one| Value::String(text(one)).to_string()).collect();
            let message = format!("Unsupported value: {value}: supported values: {}", names.join(", "));
            self.add("FieldValueNotSupported", message, path);
        }
    }

    /// Checks the number of items or properties.
    fn size(&mut self, what: &str, size: usize, schema: &Value, [least, most]: [&str; 2], path: &str) {
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        if let Some(least) = bound(least).filter(|least| size < *least) {
            self.invalid(&size.into(), &format!("should have at least {least} {what}"), path);
        }
        if let Some(most) = bound(most).filter(|most| size > *most) {
            let items = if most == 1 { "item" } else { "items" };
            self.add("FieldValueTooMany", format!("Too many: {size}: must have at most {most} {items}"), path);
        }
    }

    /// Checks a text; the server names the first thing that is wrong with it.
    fn text(&mut self, text: &'s str, schema: &'s Value, path: &str) {
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        if let Some(most) = bound("maxLength").filter(|most| length > *most) {
            let bytes = if most == 1 { "byte" } else { "bytes" };
            self.add("FieldValueTooLong", format!("Too long: may not be more than {most} {bytes}"), path);
        } else if let Some(least) = bound("minLength").filter(|least| length < *least) {
            self.invalid(&text.into(), &format!("should be at least {least} chars long"), path);
        } else if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && !*self.matched.entry((pattern, text)).or_insert_with(|| self.patterns.may_match(pattern, text))
        {
            self.invalid(&text.into(), &format!("should match '{pattern}'"), path);
        }
    }

    fn number(&mut self, value: &Value, schema: &Value, path: &str) {
        let Some(number) = value.as_f64() else { return };
        if schema.get("type").is_some_and(|kind| kind == "integer") && number.fract() != 0.0 {
            let complaint = format!("Invalid value: \"number\": {path} in body must be of type integer: \"number\"");
            return self.add("FieldValueTypeInvalid", complaint, path);
        }
        let is_set = |name: &str| schema.get(name) == Some(&Value::Bool(true));
        let bound = |name: &str| Some((schema.get(name)?.as_f64()?, schema.get(name)?));
        if let Some((most, written)) = bound("maximum") {
            if is_set("exclusiveMaximum") && number >= most {
                self.invalid(value, &format!("should be less than {written}"), path);
            } else if number > most {
                self.invalid(value, &format!("should be less than or equal to {written}"), path);
            }
        }
        if let Some((least, written)) = bound("minimum") {
            if is_set("exclusiveMinimum") && number <= least {
                self.invalid(value, &format!("should be greater than {written}"), path);
            } else if number < least {
                self.invalid(value, &format!("should be greater than or equal to {written}"), path);
            }
        }
        if let (Some(factor), Some(number)) = (schema.get("multipleOf").and_then(Value::as_i64), value.as_i64())
            && number.checked_rem(factor).is_some_and(|rest| rest != 0)
        {
            self.invalid(value, &format!("should be a multiple of {factor}"), path);
        }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= MOST_CAUSES || self.text >= MOST_TEXT
    }

    fn invalid(&mut self, value: &Value, complaint: &str, path: &str) {
        self.add("FieldValueInvalid", format!("Invalid value: {value}: {path} in body {complaint}"), path);
    }

    fn add(&mut self, reason: &str, message: String, path: &str) {
        if !self.is_full() {
            self.text = self.text.saturating_add(message.len());
            self.found.push(Cause { reason: reason.to_owned(), message, field: path.to_owned() });
        }
    }
}

/// The items of a keyed list by the values of its keys, as the texts that these have in JSON; empty for any other list.
fn by_keys<'v>(items: Option<&'v Value>, keys: &[&str]) -> HashMap<Vec<Option<String>>, &'v Value> {
    let items = items.and_then(Value::as_array).filter(|_| !keys.is_empty());
    items.into_iter().flatten().map(|item| (keys_of(item, keys), item)).collect()
}

fn keys_of(item: &Value, keys: &[&str]) -> Vec<Option<String>> {
    keys.iter().map(|key| item.get(key).map(Value::to_string)).collect()
}
