use proptest::prelude::*;
use serde_json::json;

use super::super::command_starts;
use super::*;
use kube_yaml::{Validation, read};

fn read_back(text: &str) -> Value {
    let read = read(text.as_bytes(), Validation::Strict);
    assert!(read.diagnostics.is_empty(), "{text}: {:?}", read.diagnostics);
    read.documents.into_iter().next().map_or(Value::Null, |document| document.value)
}

#[test]
fn objects_look_as_kubectl_prints_them() {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it", "labels": {}},
        "list": [{"image": "shop/web:1.2", "name": "web"}, "1.27", 3, [1, [2]], "100m", "yes", "a: b", "#x"],
        "script": "#!/bin/sh\nexec nginx\n", "open": "a\nb", "blank": "a\n\n", "empty": "", "null": null,
    });
    let expected = "apiVersion: v1
blank: |+
  a

empty: \"\"
kind: ConfigMap
list:
- image: shop/web:1.2
  name: web
- \"1.27\"
- 3
- - 1
  - - 2
- 100m
- \"yes\"
- \"a: b\"
- \"#x\"
metadata:
  labels: {}
  name: it
\"null\": null
open: |-
  a
  b
script: |
  #!/bin/sh
  exec nginx
";
    assert_eq!(yaml(&object), expected);
    assert_eq!(read_back(expected), object);
}

#[test]
fn fields_of_types_keep_their_order() {
    #[derive(Serialize)]
    struct Outer {
        name: &'static str,
        items: Vec<Inner>,
        #[serde(flatten)]
        inner: Inner,
    }
    #[derive(Serialize)]
    struct Inner {
        z: u64,
        a: Option<f64>,
    }
    let one = Inner { z: u64::MAX, a: Some(0.5) };
    let other = Inner { z: 0, a: None };
    let text = yaml_in_order(&Outer { name: "no", items: vec![one], inner: other });
    assert_eq!(text, "name: \"no\"\nitems:\n- z: 18446744073709551615\n  a: 0.5\nz: 0\na: null\n");
}

#[test]
fn nothing_hidden_is_printed() {
    let object =
        json!({"a\u{202e}\n": "x\u{1b}[2J\u{e0041}\u{ffff}\r\nb ", "k".repeat(2_000): ["\u{feff}", " a\nb\n"]});
    let text = yaml(&object);
    assert!(!text.contains(|c| c != '\n' && is_hidden(c)), "{text}");
    assert_eq!(read_back(&text), object);
}

#[test]
fn nothing_is_a_command_of_a_pipeline() {
    let object = json!({"##[a]": "x\n  ::error::y\n", "b": ["##vso[c.d]", "e\n##teamcity[f]\n"]});
    let text = yaml(&object);
    let commands: Vec<&str> = text.lines().filter(|line| !command_starts(line).is_empty()).collect();
    assert_eq!(commands, [""; 0]);
    assert_eq!(read_back(&text), object);
}

/// Strings of any characters, and those that YAML 1.1 could read as something else or in other lines.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let words = [
        "", "yes", "No", "off", "y", "null", "~", "0644", "0o7", "1:30", "1e3", "1_000", "0x1F", ".inf", "-.Inf",
        ".nan", "<<", "=", "- a", "? a", "a: b", "a:", "a #b", "#", "&a", "*a", "!!str", "|", ">", "%", "@", "`", "{",
        "[", "'", "\"", "\\", "---", "...", "a  ",
    ];
    let lines = ["a\n", "\n\n", "\na", " a\nb", "a\n b", "a\n\n\nb", "a \nb", "\ta", "a\t", "a\n\tb", "a\rb", "a\r\nb"];
    let longer = ["2001-12-14", "2001-12-14t21:59:43.10-05:00", "--- a\n---\n...\n"];
    let commands = ["##[a]", "a ##vso[b.c] d", "a\n ::b::c\n", "a\n##teamcity[b]", "#", "##", "[", "::"];
    let hidden =
        ["a\u{85}b\n", "\u{2028}a\nb\u{2029}", "\u{feff}", "\u{202e}\u{ad}\u{200b}", "\u{0}\u{7f}\u{fffe}\u{ffff}"];
    let traps = [&words[..], &lines, &longer, &hidden, &commands].concat();
    let random = "[a-z#:\\- \t\n\r\u{a0}\u{85}\u{2028}]{0,24}";
    prop_oneof![
        prop::sample::select(traps).prop_map(ToOwned::to_owned),
        any::<String>(),
        random,
        "[0-9eExo:._+-]{1,8}",
        "[ -~]{0,12}",
        "[ -~]{90,300}"
    ]
}

/// Values of any types.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // A whole float is read as an integer, as kubectl reads it, and the API server sends none.
        any::<f64>().prop_filter("whole", |float| float.fract() != 0.0).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 32, 4, |inner| {
        let fields = prop::collection::btree_map(text(), inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in value()) {
        let value = json!({"kind": value});
        let text = yaml(&value);
        prop_assert_eq!(&text, &yaml_in_order(&value));
        prop_assert_eq!(read_back(&text), value);
    }
}
