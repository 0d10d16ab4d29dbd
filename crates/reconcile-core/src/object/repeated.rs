//! Texts that repeat values of Secrets: as plain text, in base64, as numbers or escaped, also if they were cut off.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::encoded::decoded;
use super::escapes::unescaped;

/// Minimum length of the parts of a value that are searched for in a text, in characters.
const SHORTEST: usize = 4;
/// Length of the beginning of a part that is searched for, in bytes: a text with so much of it repeats it.
const LONGEST: usize = 64;
/// Length of the beginning of a part in which that many bytes are, also if all of it is escaped, in bytes.
const ESCAPED: usize = 1024;
/// Minimum length of the beginning of a part at the end of a text that was cut off, in bytes.
const SHORTEST_END: usize = 8;
/// Length of the shortest text that somebody may have cut off without a sign of it, in bytes. The API server does so with long warnings.
const SHORTEST_CUT: usize = 200;

/// Values that say nothing: any text may have these words.
const OPEN_WORDS: [&str; 5] = ["default", "false", "none", "null", "true"];

/// The values of Secrets, to be searched for in texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretValues {
    /// The parts of the values, on one line each, as they are and without escapes; sorted. None begins with another one.
    parts: Vec<String>,
    /// True if a value is no text.
    has_bytes: bool,
}

impl SecretValues {
    /// Takes the values apart that a function visits.
    pub fn of(visit: impl FnOnce(&mut dyn FnMut(&Value))) -> Self {
        let mut parts = Vec::new();
        let mut has_bytes = false;
        visit(&mut |value| {
            has_bytes |= each_part(value, &mut |part| {
                let part = beginning(part, ESCAPED);
                let both = [on_one_line(part), on_one_line(&unescaped(part))];
                let is_secret =
                    |part: &&String| part.chars().count() >= SHORTEST && !OPEN_WORDS.contains(&part.as_str());
                let long = both.iter().filter(is_secret);
                parts.extend(long.map(|part| beginning(part, LONGEST).to_owned()));
            });
        });
        parts.sort_unstable();
        // A text with the longer one has the shorter one.
        parts.dedup_by(|part, shorter| part.starts_with(shorter.as_str()));
        Self { parts, has_bytes }
    }

    /// Returns true if a text holds one of the values, or at its end the beginning of one.
    pub fn are_in(&self, text: &str) -> bool {
        if self.parts.is_empty() {
            return false;
        }
        let (line, plain) = (on_one_line(text), on_one_line(&unescaped(text)));
        let is_escaped = plain != line;
        self.in_line(&line)
            || is_escaped && self.in_line(&plain)
            || self.are_encoded_in(&line)
            || is_escaped && self.are_encoded_in(&plain)
    }

    /// Returns true if a text holds one of the values as numbers or in base64.
    fn are_encoded_in(&self, line: &str) -> bool {
        decoded(line).iter().any(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            // The values that are no text are known in base64 alone.
            let shifted = || (0..3).filter_map(|at| bytes.get(at..)).any(|rest| self.in_line(&STANDARD.encode(rest)));
            self.in_line(&on_one_line(&text))
                || self.in_line(&on_one_line(&unescaped(&text)))
                || self.has_bytes && shifted()
        })
    }

    fn in_line(&self, line: &str) -> bool {
        let begins = |rest: &[u8]| {
            // If a part is the beginning of the rest, no other one is between the two: it would begin with that part.
            let after = self.parts.partition_point(|part| part.as_bytes() <= rest);
            let nearest = after.checked_sub(1).and_then(|at| self.parts.get(at));
            nearest.is_some_and(|part| rest.starts_with(part.as_bytes()))
        };
        (0..line.len()).filter_map(|at| line.as_bytes().get(at..)).any(begins) || self.are_cut_off_in(line)
    }

    /// Returns true if the beginning of a part is where a text was cut off.
    fn are_cut_off_in(&self, line: &str) -> bool {
        let begins_a_part = |end: &[u8]| {
            let at = self.parts.partition_point(|part| part.as_bytes() < end);
            self.parts.get(at).is_some_and(|part| part.as_bytes().starts_with(end))
        };
        let ends_with_part = |text: &str| {
            let ends = SHORTEST_END..=text.len().min(LONGEST);
            ends.filter_map(|length| text.as_bytes().get(text.len().checked_sub(length)?..)).any(begins_a_part)
        };
        let line = line.replace("...", "…");
        let is_cut = line.contains('…') || line.len() >= SHORTEST_CUT;
        // A text may be cut off in an escape.
        let before_escape =
            |text: &str| text.rsplit_once(['\\', '%', '&']).is_some_and(|(before, _)| ends_with_part(before));
        is_cut && line.split('…').any(|text| ends_with_part(text) || before_escape(text))
    }
}

/// Calls a function with the parts of a value that a text must not hold. Returns true if a part is base64 of what is no text.
fn each_part(value: &Value, each: &mut dyn FnMut(&str)) -> bool {
    let mut has_bytes = false;
    match value {
        Value::Object(map) => map.values().for_each(|value| has_bytes |= each_part(value, each)),
        Value::Array(items) => items.iter().for_each(|value| has_bytes |= each_part(value, each)),
        Value::String(value) => {
            each_part_of_text(value, each);
            match STANDARD.decode(value.replace(['\n', '\r'], "")).map(String::from_utf8) {
                Ok(Ok(decoded)) => each_part_of_text(&decoded, each),
                Ok(Err(error)) => {
                    has_bytes = true;
                    each(&STANDARD.encode(error.as_bytes().as_chunks::<3>().0.as_flattened()));
                }
                Err(_) => {}
            }
        }
        Value::Number(number) => each_part_of_text(&number.to_string(), each),
        Value::Null | Value::Bool(_) => {}
    }
    has_bytes
}

fn each_part_of_text(whole: &str, each: &mut dyn FnMut(&str)) {
    let value = whole.trim();
    value.lines().for_each(&mut *each);
    each(value);
    password_in_url(value).into_iter().for_each(&mut *each);
    if value.starts_with(['{', '[']) {
        strings_in(&serde_json::from_str::<Value>(value).unwrap_or_default(), each);
    }
    // The last group of base64 depends on what follows.
    for text in [whole, value] {
        let groups = beginning(text, ESCAPED).as_bytes().as_chunks::<3>().0.as_flattened();
        each(&STANDARD.encode(groups));
    }
}

/// The password of a URL, as in `postgres://shop:PASSWORD@db`.
fn password_in_url(text: &str) -> Option<&str> {
    let (_, authority) = text.split_once("://")?;
    let (user, _) = authority.split('/').next()?.rsplit_once('@')?;
    Some(user.split_once(':')?.1)
}

/// Calls a function with the texts in a value, such as the credentials in a `.dockerconfigjson`.
fn strings_in(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(map) => map.values().for_each(|value| strings_in(value, each)),
        Value::Array(items) => items.iter().for_each(|value| strings_in(value, each)),
        Value::String(text) => each(text),
        _ => {}
    }
}

/// The first bytes of a text.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// A text with one blank for each run of white space, as texts are shown.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_texts_are_searched_as_one_is() {
        let values = [
            json!("hunter2"),
            json!({"a": ["hunter", "b25lIGxpbmUKdHdvIGxpbmVz"], "b": 12345, "c": true, "d": null, "e": "abc"}),
            json!("tab\there"),
            json!("größer"),
        ];
        let all = SecretValues::of(|each| values.iter().for_each(each));
        for (text, expected) in [
            ("", false),
            ("uses hunter2", true),
            ("Xhunte", false),
            ("the hunter", true),
            ("it has two lines", true),
            ("dHdvIGxpbmVz", true),
            ("b25lIGxpbmUKdHdvIGxpbmVz", true),
            ("no 1234", false),
            ("no 123456", true),
            ("abc true null", false),
            ("say \"tab\\there\"", true),
            ("ein größerer", true),
            ("ein gröberer", false),
            ("aHVudGVy", true),
        ] {
            assert_eq!(all.are_in(text), expected, "{text}");
        }
        assert!(!SecretValues::default().are_in("anything"));
    }

    fn of(value: &Value) -> SecretValues {
        SecretValues::of(|each| each(value))
    }

    #[test]
    fn a_long_beginning_of_a_value_repeats_it() {
        let all = of(&json!("ö".repeat(1000)));
        assert!(all.are_in(&"ö".repeat(32)) && !all.are_in(&"ö".repeat(31)));
    }

    #[test]
    fn a_value_is_found_however_it_is_escaped_or_laid_out() {
        for (value, text) in [
            ("my&pass<word>", r#"cannot be {"pw":"my\u0026pass\u003cword\u003e"}"#),
            ("my\u{a0}CANARY", "cannot be `my\\u00a0CANARY`"),
            ("my  pass\tword", "cannot log in with my pass word"),
            ("a&b'c", "a&amp;b&#39;c"),
            ("p@ss word", "GET /?pw=p%40ss%20word"),
            ("\\d+ 100%25", "it is \\\\d+ 100%25"),
            ("x\ny\nz-1", "x y z-1"),
            (" hunter2 ", "cannot use IGh1bnRlcjIg"),
            ("postgres://shop:hunter2@db/pay", "bad password hunter2"),
            (r#"{"auths":{"a":{"password":"hunter2","n":1}}}"#, "bad password hunter2"),
        ] {
            assert!(of(&json!(value)).are_in(text), "{text}");
        }
    }

    #[test]
    fn a_value_is_found_in_bytes_that_are_numbers_or_base64() {
        let document = r#"{"kind":"Secret","stringData":{"a":"CANARY\u0026value"}}"#;
        let spelled = |bytes: &[u8], form: fn(u8) -> String, between: &str| {
            bytes.iter().map(|byte| form(*byte)).collect::<Vec<_>>().join(between)
        };
        for value in [json!("CANARY&value"), json!(STANDARD.encode([200, 17, 255, 0, 130, 9, 77, 201, 3, 2, 1]))] {
            let all = of(&value);
            let bytes = match value.as_str() {
                Some("CANARY&value") => document.as_bytes().to_vec(),
                _ => vec![65, 200, 17, 255, 0, 130, 9, 77, 201, 3, 2, 1, 66],
            };
            for text in [
                format!("got [{}]", spelled(&bytes, |byte| byte.to_string(), " ")),
                format!("got {{[{}] <nil>}}", spelled(&bytes, |byte| byte.to_string(), " ")),
                format!("got []byte{{{}}}", spelled(&bytes, |byte| format!("{byte:#x}"), ", ")),
                format!("got {}", spelled(&bytes, |byte| format!("{byte:02x}"), "")),
                format!("got {}", spelled(&bytes, |byte| format!("{byte:02X}"), " ")),
                format!("got {}", spelled(&bytes, |byte| format!("{byte:#05o}"), " ")),
                format!("got {}", STANDARD.encode(&bytes)),
                format!("got {}", STANDARD.encode([b"x".as_slice(), &bytes].concat())),
                format!("got {}", STANDARD.encode([b"xy".as_slice(), &bytes].concat())),
                format!(
                    "got \"{}\"",
                    spelled(STANDARD.encode(&bytes).as_bytes(), |byte| char::from(byte).to_string(), "\\n")
                ),
            ] {
                assert!(all.are_in(&text), "{text}");
            }
        }
        let octal = spelled(b"CANARY&value", |byte| format!("\\{byte:03o}"), "");
        assert!(of(&json!("CANARY&value")).are_in(&format!("got {octal}")));
        assert!(of(&json!("p\u{f6}sswort")).are_in("got p\\303\\266sswort"));
        let cut = of(&json!("CANARY&value"));
        assert!(cut.are_in("got [67 65 78 65 82 89 38 118…") && !cut.are_in("got [67 65 78 65 82]"));
    }

    #[test]
    fn other_numbers_and_words_repeat_nothing() {
        let all = of(&json!({"a": "hunter2", "b": "9471", "c": STANDARD.encode([200, 17, 255, 0, 130])}));
        let text = "denied: spec.ports[0].port 8080, 255, 17 and 200: sha256:0123456789abcdef is no image of registry.example.com/a-b_c";
        assert!(!all.are_in(text) && !all.are_in(&text.repeat(100)));
    }

    #[test]
    fn ordinary_words_repeat_nothing() {
        for value in ["true", "default", "null"] {
            assert!(!of(&json!({"a": value})).are_in("the default is true, and not null"), "{value}");
        }
    }

    #[test]
    fn the_beginning_of_a_value_is_found_where_a_text_was_cut_off() {
        let all = of(&json!("postgres://user:hunter2@db"));
        for (text, expected) in [
            ("cannot reach postgres://user:hunt…".to_owned(), true),
            ("cannot reach \"postgres://user:hunt...\" today".to_owned(), true),
            (format!("{} postgres://user", "x".repeat(200)), true),
            ("cannot reach postgres://\\u00…".to_owned(), true),
            ("cannot reach postgres".to_owned(), false),
            ("cannot reach postg…".to_owned(), false),
        ] {
            assert_eq!(all.are_in(&text), expected, "{text}");
        }
    }
}
