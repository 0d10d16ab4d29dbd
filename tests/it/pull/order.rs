//! Lists that take the order of the live ones together with other changes: each value stays with the item that has it.

use serde_json::{Value, json};

use super::{applied, is_settled, patched, pulled, text};
use crate::control_plane::{Replaced, Rng, Workspace};

const HEAD: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: q}
spec:
  selector: {matchLabels: {app: q}}
  template:
    metadata: {labels: {app: q}}
    spec:
      containers:
";
const A: &str = "      - name: a\n        image: a:1\n";
const B: &str = "      - name: b\n        image: b:1\n";
const C: &str = "      - name: c\n        image: c:1\n";
const PATH: &str = "/spec/template/spec/containers";

/// A workspace with applied containers, whose live ones somebody has changed.
fn changed(containers: &[&str], change: impl FnOnce(&mut Vec<Value>)) -> Workspace {
    let ws = applied(&format!("{HEAD}{}", containers.concat()));
    let mut live = ws.get("Deployment", "q").pointer(PATH).unwrap().as_array().unwrap().clone();
    change(&mut live);
    patched(&ws, "deployment/q", &json!([{"op": "replace", "path": PATH, "value": live}]));
    ws
}

#[track_caller]
fn pulls(ws: &Workspace, flags: &[&str], containers: &[&str]) {
    let run = ws.reconcile([&["pull", "-f", "."], flags].concat()).exits_with(0);
    assert_eq!(text(ws), format!("{HEAD}{}", containers.concat()), "{run}");
}

/// The example that showed it: the image of one container was written into the other one.
#[test]
fn the_value_of_an_item_that_moves_stays_with_it() {
    let new_image = |live: &mut Vec<Value>| {
        live.reverse();
        live[0]["image"] = json!("b:2");
    };
    let new_b = B.replaced("b:1", "b:2");
    for flags in [&["--class", "reordered,changedByOther"][..], &["--class", "changedByOther,reordered"]] {
        let ws = changed(&[A, B], new_image);
        pulls(&ws, flags, &[&new_b, A]);
        is_settled(&ws, &[("Deployment", "q")]);
    }
    let ws = changed(&[A, B], new_image);
    let run = ws.reconcile(["pull", "-f", ".", "--class", "changedByOther"]).exits_with(0);
    assert_eq!(text(&ws), format!("{HEAD}{A}{new_b}"), "{run}");
    // Three items that go round.
    let ws = changed(&[A, B, C], |live| {
        live.rotate_left(1);
        live[2]["image"] = json!("a:2");
    });
    pulls(&ws, &["--class", "reordered,changedByOther"], &[B, C, &A.replaced("a:1", "a:2")]);
    is_settled(&ws, &[("Deployment", "q")]);
}

#[test]
fn an_order_within_an_item_that_moves_is_that_of_this_item() {
    let env = "        env:\n";
    let p = "        - name: P\n          value: \"1\"\n";
    let q = "        - name: Q\n          value: \"2\"\n";
    let with = |container: &str, parts: &[&str]| [container, env, &parts.concat()].concat();
    let (a, b) = (with(A, &[p, q]), with(B, &[p, q]));
    for flags in [&["--class", "reordered"][..], &["--class", "reordered", "--field", "spec.template.spec.containers"]]
    {
        let ws = changed(&[&a, &b], |live| {
            live[1]["env"].as_array_mut().unwrap().reverse();
            live.reverse();
        });
        pulls(&ws, flags, &[&with(B, &[q, p]), &a]);
        is_settled(&ws, &[("Deployment", "q")]);
    }
    // What was removed from one item is not taken from the other one.
    let (a, b) = (with(A, &[p]), with(B, &[p]));
    let ws = changed(&[&a, &b], |live| {
        live[1].as_object_mut().unwrap().remove("env");
        live.reverse();
    });
    ws.reconcile(["pull", "-f", ".", "--class", "reordered,absent"]).exits_with(0);
    let written = text(&ws);
    let (of_b, of_a) = written.split_once("- name: a").unwrap();
    assert!(of_b.contains("- name: b") && !of_b.contains("name: P") && of_a.contains("name: P"), "{written}");
}

#[test]
fn resolve_writes_the_same() {
    let ws = changed(&[A, B], |live| {
        live.reverse();
        live[0]["image"] = json!("b:2");
        live[1]["image"] = json!("a:2");
    });
    let run = ws.as_user("admin").stdin("p\np\np\ny\n").on_terminal().reconcile(["resolve", "-f", "."]).exits_with(0);
    let expected = [HEAD, &B.replaced("b:1", "b:2"), &A.replaced("a:1", "a:2")].concat();
    assert_eq!(text(&ws), expected, "{run}");
}

#[test]
fn an_added_item_does_not_hold_the_order_back() {
    let added = |live: &mut Vec<Value>| {
        live.reverse();
        live.insert(1, json!({"name": "new", "image": "new:1"}));
    };
    let ws = changed(&[A, B], added);
    pulls(&ws, &["--class", "reordered"], &[B, A]);
    let ws = changed(&[A, B], added);
    // A new item of a list in another order is shown once the order is the same.
    for _ in 0..2 {
        ws.reconcile(["pull", "-f", ".", "--class", "reordered,unmanaged"]).exits_with(0);
    }
    let written = text(&ws);
    let places = ["name: b", "name: new", "name: a"].map(|name| written.find(name).unwrap());
    assert!(places.is_sorted() && written.contains("new:1"), "{written}");
    is_settled(&ws, &[("Deployment", "q")]);
}

const OBJECTS: usize = 30;

/// The containers of a Deployment as the manifest has them.
fn manifest(number: usize) -> String {
    let env = |name: &str| format!("        - name: {name}   # {name}\n          value: same\n");
    let container = |name: &str| {
        let env: String = ["P", "Q", "R"].map(env).concat();
        format!("      - name: {name}   # {name}\n        image: shop/{name}:1\n        env:\n{env}")
    };
    let containers: String = ["a", "b", "c", "d"].map(container).concat();
    format!("{}{containers}", HEAD.replaced("{name: q}", &format!("{{name: q{number}}}")))
}

fn shuffle(rng: &mut Rng, items: &mut [Value]) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last + 1));
    }
}

/// Changes a list of containers at random.
fn change(rng: &mut Rng, containers: &mut Vec<Value>) {
    for container in containers.iter_mut() {
        if rng.chance(30) {
            container["image"] = json!(format!("shop/{}:{}", container["name"].as_str().unwrap(), 2 + rng.below(9)));
        }
        let env = container["env"].as_array_mut().unwrap();
        if rng.chance(30) {
            let index = rng.below(env.len());
            env[index]["value"] = json!(format!("v{}", rng.below(99)));
        }
        if rng.chance(25) {
            env.remove(rng.below(env.len()));
        }
        if rng.chance(25) {
            env.insert(rng.below(env.len() + 1), json!({"name": "NEW", "value": "x"}));
        }
        if rng.chance(40) {
            shuffle(rng, env);
        }
    }
    if rng.chance(25) {
        containers.remove(rng.below(containers.len()));
    }
    if rng.chance(25) {
        containers.insert(
            rng.below(containers.len() + 1),
            json!({"name": "new", "image": "shop/new:1", "env": [{"name": "P", "value": "y"}]}),
        );
    }
    if rng.chance(80) {
        shuffle(rng, containers);
    }
}

/// The containers without what the server adds.
fn written(containers: &[Value]) -> Value {
    containers.iter().map(|one| json!({"name": one["name"], "image": one["image"], "env": one["env"]})).collect()
}

#[test]
fn random_changes_and_orders_are_pulled_exactly() {
    let seed = std::env::var("ORDER_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(seed);
    let before = (0..OBJECTS).map(manifest).collect::<Vec<_>>().join("---\n");
    let ws = applied(&before);
    let mut lists = Vec::new();
    for number in 0..OBJECTS {
        let live = ws.get("Deployment", &format!("q{number}"));
        let mut containers = live.pointer(PATH).unwrap().as_array().unwrap().clone();
        change(&mut rng, &mut containers);
        patched(&ws, &format!("deployment/q{number}"), &json!([{"op": "replace", "path": PATH, "value": containers}]));
        lists.push(written(&containers));
    }
    let classes = "reordered,changedByOther,absent,unmanaged,unrecorded,conflict,pending";
    // A new item of a list in another order is shown once the order is the same.
    for _ in 0..2 {
        let run = ws.reconcile(["pull", "-f", ".", "-o", "json", "--class", classes]);
        let report = pulled(&run);
        let changes = report["objects"].as_array().unwrap().iter().flat_map(|one| one["changes"].as_array().unwrap());
        let refused: Vec<&Value> = changes.filter(|change| change["accepted"] == false).collect();
        assert!(run.code == 0 && refused.is_empty(), "ORDER_SEED={seed}: {refused:?}");
    }
    let read = |text: &str| kube_yaml::read(text.as_bytes(), kube_yaml::Validation::Strict).documents;
    let after = text(&ws);
    for ((former, new), list) in read(&before).into_iter().zip(read(&after)).zip(lists) {
        let mut expected = former.value;
        *expected.pointer_mut(PATH).unwrap() = list;
        assert_eq!(new.value, expected, "ORDER_SEED={seed}\n{after}");
    }
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}
