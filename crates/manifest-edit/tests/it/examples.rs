//! One example for each style. The expected texts are what somebody would write by hand.

use kube_yaml::Validation;
use serde_json::json;

use crate::support::{edited, insert, remove, reorder, set};

#[track_caller]
fn becomes(before: &str, edits: &[manifest_edit::Edit], after: &str) {
    assert_eq!(edited(before, edits), after);
    // The same in a file from Windows.
    let windows = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(edited(&windows(before), edits), windows(after));
    // The same without a line break at the end.
    if let (Some(before), Some(after)) = (before.strip_suffix('\n'), after.strip_suffix('\n'))
        && !before.ends_with('\n')
        && !after.ends_with('\n')
    {
        assert_eq!(edited(before, edits), after);
    }
    assert_eq!(edited(&format!("\u{FEFF}{before}"), edits), format!("\u{FEFF}{after}"));
}

#[test]
fn scalars_keep_their_style() {
    becomes("a: 1 # one\nb: 2\n", &[set("a", json!(5))], "a: 5 # one\nb: 2\n");
    becomes("a: 'x'\n", &[set("a", json!("it's"))], "a: 'it''s'\n");
    becomes("a: \"x\"\n", &[set("a", json!("yes"))], "a: \"yes\"\n");
    becomes("a: x   # why\n", &[set("a", json!("y z"))], "a: y z   # why\n");
    becomes("a: 'x'\n", &[set("a", json!("tab\tand \u{202e}"))], "a: \"tab\\tand \\u202E\"\n");
    becomes("mode: 0644\n", &[set("mode", json!(0o755))], "mode: 0755\n");
    becomes("a: '3'\n", &[set("a", json!(3))], "a: 3\n");
    becomes("a: x\n  y\n  z\nb: 1\n", &[set("a", json!("w"))], "a: w\nb: 1\n");
    becomes("a:\nb:   # nothing\n", &[set("a", json!(1)), set("b", json!("c"))], "a: 1\nb: c   # nothing\n");
    becomes("a: &name x\n", &[set("a", json!("z"))], "a: &name z\n");
    becomes("a: &name\nb: 1\n", &[set("a", json!("z"))], "a: &name z\nb: 1\n");
}

#[test]
fn texts_that_yaml_reads_otherwise_are_quoted() {
    for text in [
        "yes",
        "on",
        "n",
        "0644",
        "1e3",
        "~",
        "null",
        "",
        " ",
        "x ",
        "a: b",
        "a #b",
        "- x",
        "-",
        "---",
        "...",
        "{}",
        "[x]",
        "*a",
        "&a",
        "!x",
        "%x",
        "@x",
        "`x",
        "'",
        "\"",
        "#",
        "1_000",
        "12:30:45",
        "2001-01-01",
        "0x1F",
        "0o17",
        ".inf",
        ".nan",
        "<<",
        "=",
        "a:",
        "\u{85}",
        "\u{2028}",
        "\u{FEFF}",
        "\0",
        "\r",
        "\t",
        "a\tb",
        "a\rb",
        "\\",
        "? a",
        "|",
        ">",
        ": x",
        "x\u{7f}",
        "\u{1F600}",
        "é",
        "5",
        "-5",
        "+5",
        "5.0",
        "1.5",
        "0",
        "-0",
        "1e400",
        "true",
        "False",
        "0b1",
        "1:2",
    ] {
        for before in
            ["a: x\nb: 2\n", "a: {b: x, c: 2}\n", "a: [x, 2]\n", "- x\n", "a: 'x'\n", "a: |\n  x\n  y\nb: 1\n"]
        {
            let place = if before.starts_with('-') {
                continue;
            } else if before.contains('{') {
                "a.b"
            } else if before.contains('[') {
                "a.0"
            } else {
                "a"
            };
            let after = edited(before, &[set(place, json!(text))]);
            let read = kube_yaml::read(after.as_bytes(), Validation::Strict);
            assert!(read.diagnostics.is_empty(), "{after}");
            let pointer = format!("/{}", place.replace('.', "/"));
            assert_eq!(read.documents[0].value.pointer(&pointer), Some(&json!(text)), "{after}");
        }
    }
    becomes("a: x\n", &[set("a", json!("1.2.3"))], "a: 1.2.3\n");
    becomes("a: x\n", &[set("a", json!("registry.example.com/web:1.3.0"))], "a: registry.example.com/web:1.3.0\n");
    becomes("a: x\n", &[set("a", json!("--flag=x"))], "a: --flag=x\n");
    becomes("a: x\n", &[set("a", json!("1:2"))], "a: \"1:2\"\n");
}

#[test]
fn texts_of_several_lines_keep_their_block() {
    becomes(
        "a: |   # script\n    one\n    two\nb: 1\n",
        &[set("a", json!("one\n\n  three\n"))],
        "a: |   # script\n    one\n\n      three\nb: 1\n",
    );
    becomes("a: |\n  one\nb: 1\n", &[set("a", json!("one"))], "a: |-\n  one\nb: 1\n");
    becomes("a: |-\n  one\nb: 1\n", &[set("a", json!("one\n\n"))], "a: |+\n  one\n\nb: 1\n");
    becomes("a: |+\n  one\n\nb: 1\n", &[set("a", json!("one\n"))], "a: |\n  one\nb: 1\n");
    becomes("a: >\n  one\n  two\nb: 1\n", &[set("a", json!("three\nfour\n"))], "a: |\n  three\n  four\nb: 1\n");
    becomes("a: x # c\nb: 1\n", &[set("a", json!("one\ntwo\n"))], "a: | # c\n  one\n  two\nb: 1\n");
    becomes("a: |\n  one\nb: 1\n", &[set("a", json!(5))], "a: 5\nb: 1\n");
    becomes("a: >-  # c \n  one\n  two\nb: 1\n", &[set("a", json!(""))], "a: \"\"  # c\nb: 1\n");
    becomes("a: |-2 # c\n  one\nb: 1\n", &[set("a", json!(true))], "a: true # c\nb: 1\n");
    becomes("a:\n- |+ # c\n  one\n\n- 1\n", &[set("a.0", json!(" two"))], "a:\n- \" two\" # c\n- 1\n");
    becomes("a: | #c\n  one\n", &[set("a", json!({}))], "a: {} #c\n");
    becomes("- |\n  one\n".replace("- ", "x:\n- ").as_str(), &[set("x.0", json!("two\nx\n"))], "x:\n- |\n  two\n  x\n");
    becomes("a: \"x\"\n", &[set("a", json!("one\ntwo\n"))], "a: \"one\\ntwo\\n\"\n");
    becomes("a:\n  b: |\n    x\n", &[remove("a.b"), set("a.c", json!(1))], "a:\n  c: 1\n");
}

#[test]
fn entries_come_after_their_siblings() {
    becomes(
        "metadata:\n  labels:\n    a: b   # first\n\n    c: d\n# end\nspec: 1\n",
        &[set("metadata.labels.e", json!("yes"))],
        "metadata:\n  labels:\n    a: b   # first\n\n    c: d\n    e: \"yes\"\n# end\nspec: 1\n",
    );
    becomes("a:\n  b: '1'\n", &[set("a.c", json!("x"))], "a:\n  b: '1'\n  c: 'x'\n");
    becomes("a: {b: 1}  # c\n", &[set("a.c", json!("x"))], "a: {b: 1, c: x}  # c\n");
    becomes("a: {b: 1,}\n", &[set("a.c", json!({"d": ["x, y"]}))], "a: {b: 1, c: {d: [\"x, y\"]},}\n");
    becomes("a: {}  # none\nb: 1\n", &[set("a.c", json!("x"))], "a:  # none\n  c: x\nb: 1\n");
    becomes("a: []\nb: 1\n", &[set("a.0", json!({"c": 1, "d": [2]}))], "a:\n- c: 1\n  d:\n  - 2\nb: 1\n");
    becomes(
        "a:\n    b: 1\n",
        &[set("a.c.d", json!({"e": []}))],
        "a:\n    b: 1\n    c:\n        d:\n            e: []\n",
    );
    becomes(
        "a:\n  - b: 1\nc:\n  d: 1\n",
        &[set("c.e", json!([{"f": 1, "g": "x\ny"}, []]))],
        "a:\n  - b: 1\nc:\n  d: 1\n  e:\n    - f: 1\n      g: |-\n        x\n        y\n    - []\n",
    );
    becomes("a:\nb: 1\n", &[set("a.c", json!(1))], "a:\n  c: 1\nb: 1\n");
    becomes("a: 1\n", &[set("b: c", json!(1))], "a: 1\n\"b: c\": 1\n");
    becomes("a: 1\n", &[set("yes", json!(1)), set("4k", json!(2))], "a: 1\n4k: 2\n\"yes\": 1\n");
    becomes(
        "a:\n  b:\n    c: 1\n",
        &[set("a.b.d", json!(2)), set("a.e", json!(3)), set("f", json!(4))],
        "a:\n  b:\n    c: 1\n    d: 2\n  e: 3\nf: 4\n",
    );
    becomes("a:\n  b: {}\n", &[set("a.b.d", json!(2)), set("a.e", json!(3))], "a:\n  b:\n    d: 2\n  e: 3\n");
}

#[test]
fn items_come_and_go() {
    becomes("a:\n- x  # 1\n# c\n- y\nb: 1\n", &[set("a.2", json!("z"))], "a:\n- x  # 1\n# c\n- y\n- z\nb: 1\n");
    becomes("a:\n- x\n- y\n- z\n", &[remove("a.1")], "a:\n- x\n- z\n");
    becomes("a:\n  - x\n  - y\n", &[remove("a.0")], "a:\n  - y\n");
    becomes("a:\n  - x\nb: 1\n", &[remove("a.0")], "a: []\nb: 1\n");
    becomes("a: [x, y, z]\n", &[remove("a.0"), remove("a.2")], "a: [y]\n");
    becomes("a: [x, z]\n", &[set("a", json!(["w", "x", "z"]))], "a: [w, x, z]\n");
    becomes("a:\n- x\n- z\n", &[set("a", json!(["w", "x", "v", "z"]))], "a:\n- w\n- x\n- v\n- z\n");
    becomes(
        "env:\n- name: A   # a\n  value: x\n- name: B   # b\n  value: y\n",
        &[set("env", json!([{"name": "B", "value": "z"}, {"name": "C", "value": "1"}]))],
        "env:\n- name: B   # b\n  value: z\n- name: C\n  value: \"1\"\n",
    );
    becomes("a:\n- - x\n  - y\n", &[remove("a.0.0")], "a:\n- - y\n");
    becomes("a:\n- {b: 1}\n- c: 1\n  d: 2\n", &[remove("a.1.c"), set("a.0.b", json!(2))], "a:\n- {b: 2}\n- d: 2\n");
    becomes("a:\n- c: 1\n  # about d\n  d: 2\n", &[remove("a.0.c")], "a:\n- \n  # about d\n  d: 2\n");
    becomes("a:\n-\n- x\n", &[set("a.0", json!("w"))], "a:\n- w\n- x\n");
    becomes("a:\n-   b: 1\n", &[set("a.0", json!({"c": 1, "d": 2}))], "a:\n-   c: 1\n    d: 2\n");
}

#[test]
fn items_are_put_where_they_belong() {
    becomes("a:\n- x  # 1\n# c\n- y\n", &[insert("a.1", 0, json!("z"))], "a:\n- x  # 1\n- z\n# c\n- y\n");
    becomes("a: [x, y]\n", &[insert("a.9", 0, json!("z")), insert("a.0", 0, json!("w"))], "a: [w, x, y, z]\n");
    becomes(
        "a:\n- x\n- y\nb: 1\n",
        &[insert("a.1", 2, json!("2")), insert("a.1", 1, json!("1")), remove("a.1"), set("a.0", json!("w"))],
        "a:\n- w\n- \"1\"\n- \"2\"\nb: 1\n",
    );
    becomes("a: # c\n# d\n# e\n- x\n", &[insert("a.0", 0, json!("w"))], "a: # c\n- w\n# d\n# e\n- x\n");
    becomes("a:\n- - x\n", &[insert("a.0.0", 0, json!("w"))], "a:\n- - w\n  - x\n");
    // A new item in the place of another one is the same item with another name.
    becomes(
        "a:\n- name: x   # the first\n  b: 1\n- name: y\n",
        &[remove("a.0"), insert("a.0", 0, json!({"b": 1, "name": "z"}))],
        "a:\n- name: z   # the first\n  b: 1\n- name: y\n",
    );
}

#[test]
fn entries_go_with_their_lines() {
    becomes("a: 1\nb: 2 # x\n\nc: 3\n", &[remove("b")], "a: 1\n\nc: 3\n");
    becomes("a: 1\nb:\n  c: 1\n  # x\n  d: 2\n", &[remove("b")], "a: 1\n");
    becomes("a: 1\nb: 2\n", &[remove("a")], "b: 2\n");
    becomes("a:\n  b: 1\nc: 1\n", &[remove("a.b")], "a: {}\nc: 1\n");
    becomes("a: {b: 1, c: 2, d: 3}\n", &[remove("a.c")], "a: {b: 1, d: 3}\n");
    becomes("a: {b: 1, c: 2}\n", &[remove("a.b")], "a: {c: 2}\n");
    becomes("a: {b: 1}\n", &[remove("a.b")], "a: {}\n");
    becomes("a: |+\n  x\n\nb: 1\nc: 1\n", &[remove("b")], "a: |+\n  x\n\nc: 1\n");
}

#[test]
fn kinds_of_values_change_in_place() {
    becomes("a: 1 # c\nb: 2\n", &[set("a", json!({"x": 1}))], "a: # c\n  x: 1\nb: 2\n");
    becomes("a:\n  x: 1\nb: 2\n", &[set("a", json!(5))], "a: 5\nb: 2\n");
    becomes("a:\n- 1\nb: 2\n", &[set("a", json!({"c": 1}))], "a:\n  c: 1\nb: 2\n");
    becomes("a: {x: 1}\nb: 2\n", &[set("a", json!(["c"]))], "a: [c]\nb: 2\n");
    becomes("a:\n- x: 1\n- 5\n", &[set("a.0", json!("t")), set("a.1", json!({"z": [1]}))], "a:\n- t\n- z:\n  - 1\n");
}

#[test]
fn documents_are_distinguished() {
    let before = "# one\na: 1\n---\n# nothing\n---\na: 1 # two\n";
    let second = manifest_edit::Edit { document: 2, ..set("a", json!(2)) };
    becomes(before, &[second], "# one\na: 1\n---\n# nothing\n---\na: 2 # two\n");
    becomes("a: 1\n---\nb: 1\n", &[set("c", json!(1))], "a: 1\nc: 1\n---\nb: 1\n");
}

#[test]
fn json_stays_json_in_its_layout() {
    becomes(
        "{\"a\":1,\"b\":[1,2]}\n",
        &[set("c", json!({"d": [true]})), set("b.2", json!("x"))],
        "{\"a\":1,\"b\":[1,2,\"x\"],\"c\":{\"d\":[true]}}\n",
    );
    becomes("{\"a\": 1, \"b\": {}}\n", &[set("b.c", json!("yes"))], "{\"a\": 1, \"b\": {\"c\": \"yes\"}}\n");
    becomes(
        "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": [\n            1\n        ]\n    }\n}\n",
        &[set("b.c.1", json!({"x": []})), set("b.d", json!("\u{1}\u{202e}")), remove("a")],
        "{\n    \"b\": {\n        \"c\": [\n            1,\n            {\n                \"x\": []\n            }\n        ],\n        \"d\": \"\\u0001\\u202e\"\n    }\n}\n",
    );
    becomes("{\n\t\"a\": {}\n}\n", &[set("a.b", json!(1))], "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}\n");
    becomes("{\"a\": 1}\n{\"b\": 1}\n", &[set("a", json!(null))], "{\"a\": null}\n{\"b\": 1}\n");
    becomes("{\"a\": 1}\n---\nb: 1\n", &[set("a", json!("x"))], "{\"a\": \"x\"}\n---\nb: 1\n");
}

#[test]
fn new_values_are_in_brackets_next_to_others_in_brackets() {
    let port = json!({"name": "web", "port": 80});
    let items = "- {name: a, port: 1} # first\n- {name: b, port: 2}\n";
    becomes(items, &[set("2", port.clone())], &format!("{items}- {{name: web, port: 80}}\n"));
    becomes("- {name: a}\n", &[set("1", json!({"name": "yes"}))], "- {name: a}\n- {name: \"yes\"}\n");
    becomes("- {'name': 'a'}\n", &[set("1", json!({"name": "b"}))], "- {'name': 'a'}\n- {'name': 'b'}\n");
    becomes("- [a, b]\n", &[set("1", json!(["c", 1]))], "- [a, b]\n- [c, 1]\n");
    let requests = "r:\n  requests: {cpu: 1}\n";
    becomes(requests, &[set("r.limits", json!({"cpu": 2}))], &format!("{requests}  limits: {{cpu: 2}}\n"));
    // Not where a value has lines of its own, or another one nearby.
    becomes("- {a: 1}\n", &[set("1", json!({"a": {"b": 1}}))], "- {a: 1}\n- a:\n    b: 1\n");
    becomes("- {a: 1}\n", &[set("1", json!({"a": "x\ny\n"}))], "- {a: 1}\n- a: |\n    x\n    y\n");
    becomes("- {a: 1,\n  b: 2}\n", &[set("1", json!({"a": 2}))], "- {a: 1,\n  b: 2}\n- a: 2\n");
    let mixed = "x:\n  a: {k: 1}\n  b:\n    k: 1\n";
    becomes(mixed, &[set("x.c", json!({"k": 2}))], &format!("{mixed}  c:\n    k: 2\n"));
}

#[test]
fn comments_in_brackets_stay_with_their_entries() {
    let lines = "a: {\n  b: 1, # b\n  c: 2, # c\n}\n";
    becomes(lines, &[set("a.d", json!("x"))], "a: {\n  b: 1, # b\n  c: 2, # c\n  d: x,\n}\n");
    becomes(
        "a: {\n  b: 1, # b\n  c: 2 # c\n}\n",
        &[set("a.d", json!("x")), set("a.e", json!("w"))],
        "a: {\n  b: 1, # b\n  c: 2, # c\n  d: x,\n  e: w\n}\n",
    );
    becomes("a: [\n  x, # x\n  y # y\n]\n", &[insert("a.1", 0, json!("w"))], "a: [\n  x, # x\n  w,\n  y # y\n]\n");
    becomes("a: [\n  x, # x\n  y # y\n]\n", &[set("a.2", json!("z"))], "a: [\n  x, # x\n  y, # y\n  z\n]\n");
    becomes("a: [x, # x\n  y]\n", &[set("a.2", json!("z"))], "a: [x, # x\n  y,\n  z]\n");
    becomes(lines, &[remove("a.b")], "a: {\n  c: 2, # c\n}\n");
    becomes(lines, &[remove("a.c")], "a: {\n  b: 1, # b\n}\n");
    becomes(lines, &[remove("a.c"), set("a.d", json!("x"))], "a: {\n  b: 1, # b\n  d: x,\n}\n");
    becomes("a: [\n  x,\n  y # y\n]\n", &[remove("a.1")], "a: [\n  x,\n]\n");
    let about = "a: [\n  x, # x\n  # about y\n  y,\n  z,\n  w,\n]\n";
    becomes(about, &[remove("a.1"), remove("a.3")], "a: [\n  x, # x\n  # about y\n  z,\n]\n");
    becomes("a: [x, # x\n  y, z]\n", &[remove("a.1")], "a: [x, # x\n  z]\n");
    becomes("a: [x, # x\n  y]\n", &[remove("a.1")], "a: [x, # x\n  ]\n");
}

#[test]
fn new_entries_have_the_spaces_of_the_others() {
    let compact = "{\n  \"a\":\"x\",\n  \"b\":{\"c\":1}\n}\n";
    becomes(compact, &[set("d", json!("y"))], "{\n  \"a\":\"x\",\n  \"b\":{\"c\":1},\n  \"d\":\"y\"\n}\n");
    becomes(compact, &[set("b.d", json!(2))], "{\n  \"a\":\"x\",\n  \"b\":{\"c\":1,\"d\":2}\n}\n");
    becomes("{\"a\": \"x: \",\"b\": 1}\n", &[set("c", json!(2))], "{\"a\": \"x: \",\"b\": 1,\"c\": 2}\n");
    becomes("{\"a\":\": \"}\n", &[set("c", json!(2))], "{\"a\":\": \",\"c\":2}\n");
    let wide = "a:\n-   name: x\n    b: 1\n";
    becomes(wide, &[set("a.1", json!({"name": "w", "b": 2}))], &format!("{wide}-   name: w\n    b: 2\n"));
    becomes(wide, &[set("c", json!([{"d": 1, "e": 2}, 3]))], &format!("{wide}c:\n-   d: 1\n    e: 2\n-   3\n"));
    becomes("a:\n-   x\n- y\n", &[insert("a.1", 0, json!("z"))], "a:\n-   x\n-   z\n- y\n");
}

#[test]
fn new_items_have_their_keys_in_the_order_of_the_others() {
    let item = json!({"env": [{"name": "B", "value": "2"}], "image": "w", "name": "w", "tty": true});
    let block = "a:\n- name: x\n  image: x\n  env:\n  - value: '1'\n    name: A\n";
    let new = "- name: w\n  image: w\n  env:\n  - value: '2'\n    name: B\n  tty: true\n";
    becomes(block, &[insert("a.1", 0, item.clone())], &format!("{block}{new}").replace("'2'", "\"2\""));
    let flow = "a: [{name: x, image: x}]\n";
    let new = "{name: w, image: w, env: [{name: B, value: \"2\"}], tty: true}";
    becomes(flow, &[insert("a.0", 0, item)], &format!("a: [{new}, {{name: x, image: x}}]\n"));
    // A key that only a later item has is behind the one that is above it there.
    let both = "a:\n- name: x\n  image: x\n- name: y\n  args: []\n  image: y\n";
    let new = json!({"args": ["1"], "image": "w", "name": "w"});
    becomes(both, &[insert("a.2", 0, new)], &format!("{both}- name: w\n  args:\n  - \"1\"\n  image: w\n"));
}

#[test]
fn items_move_with_their_comments() {
    let before = "env:\n# about A\n- name: A   # a\n  value: '1'\n- name: B\n\n# about C\n- name: C   # c\nb: 1\n";
    becomes(
        before,
        &[set("env", json!([{"name": "C"}, {"name": "A", "value": "1"}, {"name": "B"}]))],
        "env:\n# about C\n- name: C   # c\n# about A\n- name: A   # a\n  value: '1'\n\n- name: B\nb: 1\n",
    );
    becomes("a: [x, 'y', \"z\"] # c\n", &[set("a", json!(["z", "x", "y"]))], "a: [\"z\", x, 'y'] # c\n");
    becomes(
        "a:\n- |\n  x\n  # no comment\n- w\n",
        &[set("a", json!(["w", "x\n# no comment\n"]))],
        "a:\n- w\n- |\n  x\n  # no comment\n",
    );
    becomes("a:\n- - x\n  - 'y'\n", &[set("a", json!([["y", "x"]]))], "a:\n- - 'y'\n  - x\n");
}

/// Edits name items by their former places, whatever becomes of the list.
#[test]
fn items_that_move_are_changed_as_well() {
    let before = "l:\n# one\n- name: a   # first\n  v: 1\n  e:\n  - x\n  - y\n# two\n- name: b\n  v: 2\n  e:\n  - name: p   # p\n  - name: q\n- name: c\n";
    let a = "# one\n- name: a   # first\n  v: 1\n  e:\n  - x\n  - y\n";
    let b = "# two\n- name: b\n  v: 2\n  e:\n  - name: p   # p\n  - name: q\n";
    let new_b = "# two\n- name: b\n  v: 5\n  e:\n  - name: q\n  - name: p   # p\n";
    let order = reorder("l", &[2, 1, 0]);
    let inner = [reorder("l.1.e", &[1, 0]), set("l.1.v", json!(5))];
    becomes(before, &[inner[0].clone(), order.clone(), inner[1].clone()], &format!("l:\n- name: c\n{new_b}{a}"));
    becomes(before, &[order.clone(), inner[1].clone(), inner[0].clone()], &format!("l:\n- name: c\n{new_b}{a}"));
    let without = [order.clone(), remove("l.0.e"), remove("l.1")];
    becomes(before, &without, "l:\n- name: c\n# two\n# one\n- name: a   # first\n  v: 1\n");
    // A new item follows the former one before it.
    let new = [insert("l.2", 0, json!({"name": "new"})), order, insert("l.0", 0, json!({"name": "m"}))];
    becomes(before, &new, &format!("l:\n- name: m\n- name: c\n{b}- name: new\n{a}"));
}
