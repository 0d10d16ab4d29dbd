//! The costs of single requests, from which the program chooses between one LIST and many GETs.

use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use test_control_plane::{ControlPlane, Relay, Workspace};

use super::bare;
use super::contest::Network;
use super::scenarios::{floor, prepare, server};
use super::selection::Selection;

/// Objects of each size.
const OBJECTS: u32 = 1_000;
/// Sizes of their texts, in bytes.
const SIZES: [u32; 2] = [100, 20_000];
/// Runs of each measurement; the quickest counts.
const RUNS: usize = 5;

/// Prints the costs with each network.
pub fn run(selection: &Selection) {
    let plane = server();
    let workspaces = SIZES.map(|size| {
        let ws = Rc::new(Workspace::on(&plane));
        let object = |number: u32| {
            let metadata = json!({"name": format!("object-{number}"), "namespace": ws.namespace()});
            let manifest =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": text(size)}});
            bare::apply(&path(&ws, number), &manifest)
        };
        prepare(floor(&ws, &(0..OBJECTS).map(object).collect::<Vec<_>>()));
        ws
    });
    show("network   GET [µs]   item [µs]   KiB [µs]   GET [bytes of a LIST]   item [bytes of a LIST]");
    for network in selection.networks() {
        print(&plane, network, &workspaces);
    }
}

#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
fn show(line: &str) {
    println!("{line}");
}

fn print(plane: &ControlPlane, network: Network, [small, large]: &[Rc<Workspace>; 2]) {
    let list = |ws: &Rc<Workspace>| [bare::list(&collection(ws))];
    let gets: Vec<Value> = (0..OBJECTS).map(|number| bare::list(&path(small, number))).collect();
    let start = quickest(plane, network, small, &gets[..1]);
    let each = |time: Duration| time.saturating_sub(start).as_secs_f64() * 1e6 / f64::from(OBJECTS);
    let get = each(quickest(plane, network, small, &gets));
    let (light, heavy) =
        (each(quickest(plane, network, small, &list(small))), each(quickest(plane, network, large, &list(large))));
    let [less, more] = SIZES.map(f64::from);
    let byte = (heavy - light) / (more - less);
    // The metadata of the objects is as large in both.
    let item = light - less * byte;
    show(&format!(
        "{:8} {get:9.0} {item:11.1} {:10.1} {:23.0} {:24.0}",
        network.name,
        byte * 1024.0,
        get / byte,
        item / byte
    ));
}

/// The shortest time of the floor with these requests.
fn quickest(plane: &ControlPlane, network: Network, ws: &Rc<Workspace>, requests: &[Value]) -> Duration {
    let times = (0..RUNS).map(|_| {
        let relay = (!network.delay.is_zero()).then(|| Relay::new(plane.url(), network.delay));
        let url = relay.as_ref().map_or_else(|| plane.url().to_owned(), Relay::url);
        floor(ws, requests).run(&url).time
    });
    times.min().unwrap_or_default()
}

fn collection(ws: &Workspace) -> String {
    format!("/api/v1/namespaces/{}/configmaps", ws.namespace())
}

fn path(ws: &Workspace, number: u32) -> String {
    format!("{}/object-{number}", collection(ws))
}

/// A text of this length that compresses, though not to nothing.
fn text(length: u32) -> String {
    (0..length).map(|index| char::from_digit(index.wrapping_mul(index) / 7 % 31, 36).unwrap_or('0')).collect()
}
