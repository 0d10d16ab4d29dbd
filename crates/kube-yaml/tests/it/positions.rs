//! Positions of values and keys.

use kube_yaml::Step::{Index, Key};
use kube_yaml::{Document, Mark, Step, Validation};

fn document(input: &str) -> Document {
    kube_yaml::read(input.as_bytes(), Validation::Ignore).documents.remove(0)
}

fn value(document: &Document, path: &[Step]) -> Option<(u32, u32)> {
    document.positions.value_at(path).map(|mark| (mark.line, mark.column))
}

#[test]
fn values_and_keys_of_a_block() {
    let document = document("# é\nspec:\n  containers:\n  - name: é\n    \"image\": x\n");
    let image = [Key("spec"), Key("containers"), Index(0), Key("image")];
    assert_eq!(value(&document, &image), Some((5, 14)));
    assert_eq!(document.positions.key_at(&image), Some(Mark { line: 5, column: 5 }));
    assert_eq!(value(&document, &image[..3]), Some((4, 5)));
    assert_eq!(document.positions.key_at(&image[..3]), None);
    assert_eq!(document.start, Mark { line: 2, column: 1 });
}

#[test]
fn columns_count_characters() {
    let document = document("{é: [ß, x], \"ключ\": y}\n");
    assert_eq!(value(&document, &[Key("é"), Index(1)]), Some((1, 9)));
    assert_eq!(value(&document, &[Key("ключ")]), Some((1, 21)));
}

#[test]
fn a_path_that_is_not_there_leads_to_its_nearest_part() {
    let document = document("a:\n  b:\n  - c\n");
    assert_eq!(value(&document, &[Key("a"), Key("x")]), None);
    assert_eq!(document.positions.nearest(&[Key("a"), Key("x"), Key("y")]), Mark { line: 1, column: 1 });
    assert_eq!(document.positions.nearest(&[Key("a"), Key("b"), Index(7)]), Mark { line: 2, column: 3 });
}

#[test]
fn items_of_a_list_have_positions_of_their_own() {
    let document = document("kind: List\nitems:\n- kind: A\n  x: 1\n- kind: B\n  x: 2\n");
    let items = document.positions.items(&[Key("items")]);
    let positions: Vec<_> = items.iter().map(|item| item.value_at(&[Key("x")]).unwrap().line).collect();
    assert_eq!(positions, [4, 6]);
    let second = document.positions.descend(&[Key("items"), Index(1)]).unwrap();
    assert_eq!(second.key_at(&[Key("kind")]), Some(Mark { line: 5, column: 3 }));
    assert!(document.positions.descend(&[Key("items"), Index(2)]).is_none());
}

#[test]
fn a_part_of_an_alias_stands_at_its_anchor() {
    let document = document("a: &a\n  x: 1\n  z: 2\nb: *a\nc:\n  <<: *a\n  z: 3\nd:\n  <<: [{x: 4}, *a]\n");
    assert_eq!(value(&document, &[Key("b")]), Some((4, 4)));
    assert_eq!(value(&document, &[Key("b"), Key("z")]), Some((3, 6)));
    assert_eq!(value(&document, &[Key("c"), Key("x")]), Some((2, 6)));
    assert_eq!(value(&document, &[Key("c"), Key("z")]), Some((7, 6)));
    assert_eq!(value(&document, &[Key("d"), Key("x")]), Some((9, 12)));
    assert_eq!(value(&document, &[Key("d"), Key("z")]), Some((3, 6)));
}

#[test]
fn keys_that_change_are_named_as_they_are_written() {
    let text = b"data: {n: 1, yes: {on: 2}, 0644: 3, 1.10: 4, 12: 6, 'no': 7, a.b: 8, 2001-01-01: 9}\n";
    let changed = |validation| {
        let stream = kube_yaml::read(text, validation);
        assert_eq!((stream.documents.len(), stream.diagnostics.len()), (1, 0));
        let keys = stream.changed_keys.iter().map(|key| (key.mark.column, key.message.clone()));
        keys.collect::<Vec<_>>()
    };
    let message = |key: &str, what: &str, becomes: &str| {
        format!("the key `{key}` is a {what} without quotes, and becomes `{becomes}`")
    };
    for validation in [Validation::Strict, Validation::Warn] {
        assert_eq!(
            changed(validation),
            [
                (8, message("n", "boolean", "false")),
                (14, message("yes", "boolean", "true")),
                (20, message("on", "boolean", "true")),
                (28, message("0644", "number", "420")),
                (37, message("1.10", "number", "1.1")),
            ]
        );
    }
    assert_eq!(changed(Validation::Ignore), []);
}

#[test]
fn keys_are_found_as_kubectl_names_them() {
    let document = document("0x10: a\nyes: b\n");
    assert_eq!(value(&document, &[Key("16")]), Some((1, 7)));
    assert_eq!(value(&document, &[Key("true")]), Some((2, 6)));
}

#[test]
fn later_documents_and_json_count_lines_from_the_start() {
    let stream = kube_yaml::read(b"{\"a\":\n 1}\n---\n# c\nb: 2\n---\nc:\n  d: 3\n", Validation::Strict);
    let marks: Vec<_> = stream.documents.iter().map(|document| (document.number, document.start.line)).collect();
    assert_eq!(marks, [(1, 1), (2, 5), (3, 7)]);
    assert_eq!(value(&stream.documents[0], &[Key("a")]), Some((2, 2)));
    assert_eq!(value(&stream.documents[2], &[Key("c"), Key("d")]), Some((8, 6)));
}

#[test]
fn repaired_text_keeps_its_places() {
    let document = document("a: {b: \"one\ntwo\", c: 'x'#y\n  , d: \"it\\'s\", e: f}\n");
    assert_eq!(value(&document, &[Key("a"), Key("c")]), Some((2, 10)));
    assert_eq!(value(&document, &[Key("a"), Key("e")]), Some((3, 20)));
}
