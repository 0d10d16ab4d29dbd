//! Every character arrives as it is in the manifest, and is found there again.

use serde_json::{Map, Value, json};

use crate::control_plane::{Rng, Run, Workspace};

/// JSON in ASCII, which every reader reads alike.
fn ascii(value: &Value) -> String {
    let text = value.to_string();
    let escaped = |c: char| -> String {
        c.encode_utf16(&mut [0; 2]).iter().fold(String::new(), |all, unit| format!("{all}\\u{unit:04x}"))
    };
    text.chars().map(|c| if c.is_ascii() && c != '\u{7f}' { c.to_string() } else { escaped(c) }).collect()
}

fn config_map(name: &str, data: impl IntoIterator<Item = String>) -> Value {
    let data: Map<String, Value> =
        data.into_iter().enumerate().map(|(at, text)| (format!("k{at:04}"), text.into())).collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// The texts between characters: in a line, at its start and at its end, and alone on it.
fn around(characters: &[char]) -> impl Iterator<Item = String> {
    characters.chunks(400).map(|chunk| {
        chunk.iter().enumerate().fold(String::new(), |text, (at, c)| match at % 4 {
            0 => format!("{text}x{c}y"),
            1 => format!("{text}{c} "),
            2 => format!("{text} {c}"),
            _ => format!("{text}\n{c}\n"),
        })
    })
}

#[track_caller]
fn is_found_unchanged(diff: &Run, kind: &str, name: &str) {
    let object = diff.object(kind, name);
    assert_eq!((&object["action"], &object["changes"]), (&json!("none"), &json!([])), "{diff}");
}

/// Applies an object twice, and compares it with proofs and with the server's answer.
#[track_caller]
fn arrives(ws: &Workspace, kind: &str, object: &Value, field: &str) {
    let name = object["metadata"]["name"].as_str().unwrap();
    ws.write("it.json", &ascii(object));
    ws.reconcile(["apply", "-f", "it.json"]).exits_with(0);
    assert!(ws.get(kind, name)[field] == object[field], "{name} is stored as something else");
    for evidence in ["--evidence=auto", "--evidence=server"] {
        is_found_unchanged(&ws.reconcile(["diff", "-f", "it.json", evidence]).exits_with(0), kind, name);
    }
    assert_eq!(ws.reconcile(["apply", "-f", "it.json"]).exits_with(0).writes(), 0);
}

#[test]
fn every_character_of_a_value_arrives() {
    let ws = Workspace::new();
    let plane: Vec<char> = ('\0'..='\u{ffff}').collect();
    for (at, half) in plane.chunks(plane.len() / 2 + 1).enumerate() {
        arrives(&ws, "ConfigMap", &config_map(&format!("plane-{at}"), around(half)), "data");
    }
    let mut rng = Rng::new(7);
    let beyond: Vec<char> =
        (0..40_000).filter_map(|_| char::from_u32(u32::try_from(0x10000 + rng.below(0x10_0000)).unwrap())).collect();
    arrives(&ws, "ConfigMap", &config_map("beyond", around(&beyond)), "data");
}

#[test]
fn random_texts_arrive() {
    const TRAPS: [&str; 16] = [
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\u{7f}",
        "\u{9f}",
        "\u{feff}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{1f600}",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\"",
        "\\",
        "'",
    ];
    let ws = Workspace::new();
    let mut rng = Rng::new(11);
    let text = |rng: &mut Rng| -> String {
        let part = |rng: &mut Rng| match rng.below(3) {
            0 => char::from_u32(u32::try_from(rng.below(0x11_0000)).unwrap()).unwrap_or('?').to_string(),
            1 => "word".to_owned(),
            _ => (*rng.pick(&TRAPS)).to_owned(),
        };
        (0..rng.below(9)).map(|_| part(rng)).collect()
    };
    let texts: Vec<String> = (0..2_000).map(|_| text(&mut rng)).collect();
    arrives(&ws, "ConfigMap", &config_map("random", texts), "data");
}

/// A value that others stored correctly is neither a difference nor overwritten.
#[test]
fn a_value_that_is_stored_already_is_no_difference() {
    let ws = Workspace::new();
    let object = config_map("it", ["x\u{85}", "\u{2028}", "a\u{7f}b"].map(ToOwned::to_owned));
    ws.write("it.json", &ascii(&object));
    // A POST of JSON.
    ws.kubectl(["create", "-f", "it.json"]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "it")["data"], object["data"]);
    let diff = ws.reconcile(["diff", "-f", "it.json", "--evidence=server"]).exits_with(0);
    assert_eq!(diff.changes("ConfigMap", "it"), ["adopted"], "{diff}");
    ws.reconcile(["apply", "-f", "it.json"]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "it")["data"], object["data"]);
}

/// Custom resources may have any keys.
#[test]
fn every_key_arrives() {
    let ws = Workspace::new();
    ws.define("Free", "properties: {any: {type: object, x-kubernetes-preserve-unknown-fields: true}}");
    let keys = ["\u{85}", "a\u{7f}", "\u{2028}b", "\u{feff}", "\u{1f600}", "? a", "<<", "=", "\n", "", "~"];
    let mut spec: Map<String, Value> = keys.into_iter().map(|key| (key.to_owned(), json!({key: 1}))).collect();
    spec.insert("k".repeat(1_100), json!([{"ä".repeat(700): "x"}]));
    let object = json!({"apiVersion": ws.fill_in("$NS.example.com/v1"), "kind": "Free", "metadata": {"name": "it"}, "spec": {"any": spec}});
    arrives(&ws, "Free", &object, "spec");
}
