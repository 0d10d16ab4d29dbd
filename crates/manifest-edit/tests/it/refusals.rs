//! What is not edited, and why.

use manifest_edit::{Edit, Refusal, Refused, edit};
use serde_json::json;

use crate::support::{edited, refusal, remove, reorder, set};

#[test]
fn values_that_are_used_elsewhere_are_refused() {
    let text = "a: &x 1\nb: *x\nc: &y {d: 1}\ne: *y\nf:\n  <<: *y\n  g: 1\n";
    assert_eq!(refusal(text, set("a", json!(2))), Refusal::Anchor);
    assert_eq!(refusal(text, set("b", json!(2))), Refusal::Alias);
    assert_eq!(refusal(text, set("c.d", json!(2))), Refusal::Anchor);
    assert_eq!(refusal(text, remove("c")), Refusal::Anchor);
    assert_eq!(refusal(text, set("e.d", json!(2))), Refusal::Alias);
    assert_eq!(refusal(text, set("f.d", json!(2))), Refusal::Merge);
    assert_eq!(refusal(text, remove("f.d")), Refusal::Merge);
    assert_eq!(refusal(text, remove("f.g")), Refusal::Merge);
    // Also if all of its mapping goes, or is another one.
    let merged = "c: &y {d: 1}\nf:\n  <<: *y\n  g: 1\nh: {<<: *y}\ni: [{<<: *y}]\n";
    assert_eq!(refusal(merged, set("f", json!({"x": 1}))), Refusal::Merge);
    assert_eq!(refusal(merged, set("f", json!({}))), Refusal::Merge);
    assert_eq!(refusal(merged, remove("h.d")), Refusal::Merge);
    assert_eq!(refusal(merged, set("i.0", json!("x"))), Refusal::Merge);
    // Beside a merge key, own entries are edited as everywhere.
    assert!(edited(text, &[set("f.g", json!(2)), set("f.h", json!(3))]).ends_with("  g: 2\n  h: 3\n"));
}

#[test]
fn tags_comments_in_brackets_and_other_encodings_are_refused() {
    assert_eq!(refusal("a: !!str 1\n", set("a", json!("2"))), Refusal::Tag);
    assert_eq!(refusal("a: [x, # c\n  y]\n", remove("a.0")), Refusal::Layout);
    assert_eq!(refusal("a: {x}\n", set("a.x", json!(1))), Refusal::Layout);
    assert_eq!(refusal("a: 1\n", set("a.b", json!(1))), Refusal::NoPlace);
    assert_eq!(refusal("a: 1\n", Edit { document: 2, ..set("a", json!(2)) }), Refusal::Unreadable);
    let utf16 = b"\xFF\xFEa\0:\0 \x001\0";
    assert_eq!(edit(utf16, &[set("a", json!(2))]).refused, [Refused { edit: 0, refusal: Refusal::Unreadable }]);
    assert_eq!(edit(utf16, &[set("a", json!(2))]).text, utf16);
}

#[test]
fn the_other_edits_are_made() {
    let text = "a: &x 1\nb: *x\nc: 1\nd: 2\n";
    let edited = edit(text.as_bytes(), &[set("c", json!(2)), set("b", json!(5)), set("a", json!(5)), remove("d")]);
    assert_eq!(String::from_utf8(edited.text).unwrap(), "a: &x 1\nb: *x\nc: 2\n");
    let refused: Vec<_> = edited.refused.iter().map(|refused| (refused.edit, refused.refusal)).collect();
    assert_eq!(refused, [(1, Refusal::Alias), (2, Refusal::Anchor)]);
}

#[test]
fn keys_that_cannot_be_written_are_refused() {
    let long = "k".repeat(2_000);
    assert_eq!(refusal("a: 1\n", set(&long, json!(1))), Refusal::Meaning);
}

#[test]
fn an_order_has_each_item_once() {
    for order in [&[0, 0][..], &[1], &[0, 1, 2], &[1, 2], &[]] {
        assert_eq!(refusal("a: [x, y]\n", reorder("a", order)), Refusal::NoPlace, "{order:?}");
    }
    assert_eq!(refusal("a: {x: 1}\n", reorder("a", &[0])), Refusal::NoPlace);
}

/// The new value need not have the place of the other edit.
#[test]
fn edits_below_a_value_that_is_set_as_a_whole_are_refused() {
    let text = "a:\n- name: p\n  v: 1\n- name: q\n  v: 2\n";
    let whole = set("a", json!([{"name": "q", "v": 2}, {"name": "p", "v": 1}]));
    let edits = [whole, set("a.1.v", json!(3))];
    let edited = edit(text.as_bytes(), &edits);
    assert_eq!(edited.refused, [Refused { edit: 1, refusal: Refusal::Overlap }]);
    assert_eq!(edited.text, b"a:\n- name: q\n  v: 2\n- name: p\n  v: 1\n");
}
