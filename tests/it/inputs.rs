//! Where manifests come from: files, directories, patterns, pipes, URLs and kustomizations.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::thread;

use serde_json::json;

use crate::control_plane::{Run, Workspace};

pub(crate) fn config_map(name: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}\n")
}

/// The names of the objects that were found, in order.
pub(crate) fn names(run: &Run) -> Vec<&str> {
    run.report()["objects"].as_array().unwrap().iter().map(|object| object["name"].as_str().unwrap()).collect()
}

pub(crate) fn messages(run: &Run) -> Vec<String> {
    let text = |error: &serde_json::Value| {
        let file = error["file"].as_str().map(|file| format!("{file}: ")).unwrap_or_default();
        format!("{file}{}", error["message"].as_str().unwrap())
    };
    run.report()["errors"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn directories_are_read_by_their_endings_and_only_as_deep_as_asked() {
    let ws = Workspace::new();
    for (file, name) in
        [("d/b.yml", "b"), ("d/a.yaml", "a"), ("d/c.json", "c"), ("d/e.txt", "e"), ("d/sub/f.yaml", "f")]
    {
        ws.write(
            file,
            &if name == "c" {
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}).to_string()
            } else {
                config_map(name)
            },
        );
    }
    assert_eq!(names(&ws.reconcile(["diff", "-f", "d"]).exits_with(1)), ["a", "b", "c"]);
    assert_eq!(names(&ws.reconcile(["diff", "-f", "d", "-R"]).exits_with(1)), ["a", "b", "c", "f"]);
    assert_eq!(
        names(&ws.reconcile(["diff", "-f", "d/e.txt"]).exits_with(1)),
        ["e"],
        "a file is read whatever its ending"
    );
    ws.write("empty/x.txt", "x");
    let run = ws.reconcile(["diff", "-f", "empty"]).exits_with(2);
    assert_eq!(messages(&run), ["empty: no `.yaml`, `.yml` or `.json` file in this directory"]);
}

#[test]
fn patterns_match_files_and_directories() {
    let ws = Workspace::new();
    for (file, name) in [("x1.yaml", "a"), ("x2.yaml", "b"), ("y.yaml", "c"), ("xd/d.yaml", "d"), ("[z].yaml", "z")] {
        ws.write(file, &config_map(name));
    }
    assert_eq!(names(&ws.reconcile(["diff", "-f", "x*"]).exits_with(1)), ["a", "b", "d"]);
    assert_eq!(names(&ws.reconcile(["diff", "-f", "x?.yaml"]).exits_with(1)), ["a", "b"]);
    assert_eq!(
        names(&ws.reconcile(["diff", "-f", "[z].yaml"]).exits_with(1)),
        ["z"],
        "a file of that very name comes first"
    );
    assert_eq!(messages(&ws.reconcile(["diff", "-f", "q*"]).exits_with(2)), ["q*: the pattern matches no file"]);
    assert!(messages(&ws.reconcile(["diff", "-f", "q[*"]).exits_with(2))[0].starts_with("q[*: is not a valid pattern"));
}

#[test]
fn all_that_cannot_be_read_is_reported_at_once() {
    let ws = Workspace::new();
    ws.write("good.yaml", &config_map("a"));
    ws.write("d/good.yaml", &config_map("b"));
    symlink("nowhere.yaml", ws.folder().join("d/broken.yaml")).unwrap();
    let run = ws.reconcile(["diff", "-f", "good.yaml", "-f", "missing.yaml", "-f", "d", "-f", "none*"]).exits_with(2);
    assert_eq!(
        messages(&run),
        [
            "missing.yaml: cannot be read: no such file or directory",
            "d/broken.yaml: cannot be read: no such file or directory",
            "none*: the pattern matches no file",
        ]
    );
    // The mistakes in what can be read are reported as well.
    ws.write("bad.yaml", "kind: ConfigMap\n");
    let run = ws.reconcile(["diff", "-f", "missing.yaml", "-f", "bad.yaml"]).exits_with(2);
    let found = messages(&run);
    assert_eq!(found[0], "missing.yaml: cannot be read: no such file or directory");
    assert!(found.len() > 1 && found[1..].iter().all(|message| message.starts_with("bad.yaml: ")), "{run}");
}

#[test]
fn a_file_is_read_once_however_it_is_found() {
    let ws = Workspace::new();
    ws.write("d/..data_1/web.yaml", &config_map("web"));
    let folder = ws.folder().join("d");
    symlink("..data_1", folder.join("..data")).unwrap();
    symlink("..data/web.yaml", folder.join("web.yaml")).unwrap();
    symlink(".", folder.join("loop")).unwrap();
    fs::create_dir(folder.join("sub")).unwrap();
    symlink("..", folder.join("sub/up")).unwrap();
    for arguments in
        [&["-f", "d"][..], &["-f", "d", "-R"], &["-f", "d", "-f", "d/web.yaml"], &["-R", "-f", "d", "-f", "d/*.yaml"]]
    {
        let run = ws.reconcile(["diff"].iter().chain(arguments)).exits_with(1);
        assert_eq!(names(&run), ["web"], "{run}");
    }
}

#[test]
fn names_that_are_not_utf_8_are_read() {
    use std::os::unix::ffi::OsStrExt as _;
    let ws = Workspace::new();
    fs::create_dir(ws.folder().join("d")).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.yaml");
    fs::write(ws.folder().join("d").join(name), config_map("a")).unwrap();
    let run = ws.reconcile(["diff", "-f", "d"]).exits_with(1);
    assert_eq!(run.object("ConfigMap", "a")["source"]["file"], "d/caf\u{fffd}.yaml");
}

#[test]
fn nothing_at_all_is_an_error_unless_it_is_allowed() {
    let ws = Workspace::new();
    for (name, text) in [
        ("empty", ""),
        ("null", "null\n"),
        ("comment", "# nothing\n---\n# here\n"),
        ("list", "{apiVersion: v1, kind: List, items: []}"),
    ] {
        let file = format!("{name}.yaml");
        ws.write(&file, text);
        let run = ws.reconcile(["diff", "-f", &file]).exits_with(2);
        assert_eq!(messages(&run), ["no objects found in the input"], "{name}");
        ws.reconcile(["diff", "--allow-empty", "-f", &file]).exits_with(0);
    }
    ws.write("a.yaml", &config_map("a"));
    assert_eq!(names(&ws.reconcile(["diff", "-f", "empty.yaml", "-f", "a.yaml"]).exits_with(1)), ["a"]);
    let run = ws.reconcile(["diff", "-f", "a.yaml", "-l", "app=web"]).exits_with(2);
    assert_eq!(messages(&run), ["no object matches the selector"]);
}

#[test]
fn standard_input_is_what_another_tool_renders() {
    let ws = Workspace::new();
    // As `helm template` prints it: comments, a leading separator, an empty document.
    let rendered = "---\n# Source: shop/templates/empty.yaml\n---\n# Source: shop/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\n";
    let run = ws.stdin(rendered).reconcile(["diff", "-f", "-"]).exits_with(1);
    assert_eq!(names(&run), ["a"]);
    assert_eq!(
        run.object("ConfigMap", "a")["source"],
        json!({"file": "stdin", "line": 5, "template": "shop/templates/a.yaml"})
    );
    let run = ws.stdin(rendered).reconcile(["diff", "-f", "-", "-f", "-"]).exits_with(2);
    assert_eq!(messages(&run), ["standard input can be read only once, `-f -` is given twice"]);
}

/// Answers each request with the next of these, and tells the URL.
fn server(answers: Vec<(&'static str, String)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/shop.yaml", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (status, body) in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    url
}

#[test]
fn urls_are_read_and_tried_again_when_their_server_fails() {
    let ws = Workspace::new();
    let url = server(vec![("503 Service Unavailable", String::new()), ("200 OK", config_map("a"))]);
    let run = ws.reconcile(["diff", "-f", &url]).exits_with(1);
    assert_eq!(run.object("ConfigMap", "a")["source"]["file"], url.as_str());
    let url = server(vec![("404 Not Found", String::new())]);
    let run = ws.reconcile(["diff", "-f", &url]).exits_with(2);
    assert_eq!(messages(&run), [format!("{url}: cannot be read: the server answered 404 Not Found")]);
}

/// `kubectl` of the control plane on PATH, where `kustomize` may not be.
fn with_kubectl(ws: &Workspace) -> String {
    ws.plane().kubectl().parent().unwrap().display().to_string()
}

#[test]
fn objects_of_kustomizations_are_named_by_the_files_of_their_resources() {
    let ws = Workspace::new();
    ws.write("k/kustomization.yaml", "namePrefix: shop-\nresources: [a.yaml]\n");
    ws.write("k/a.yaml", &config_map("a"));
    let path = with_kubectl(&ws);
    let run = ws.env("PATH", &path).reconcile(["diff", "-k", "k"]).exits_with(1);
    let source = &run.object("ConfigMap", "shop-a")["source"];
    assert_eq!((&source["file"], &source["line"]), (&"k/a.yaml".into(), &1.into()));
    // The same by way of a pipe.
    let built = ws.kubectl(["kustomize", "k"]).exits_with(0).stdout;
    assert_eq!(names(&ws.stdin(&built).reconcile(["diff", "-f", "-"]).exits_with(1)), ["shop-a"]);

    // The resource is named where it is written.
    let annotations = ws.env("PATH", &path).reconcile(["diff", "-k", "k", "-o", "github"]).exits_with(1).stdout;
    assert!(annotations.contains("/k/a.yaml,line=1"), "{annotations}");
    assert!(run.stdout.lines().any(|line| line.ends_with("  k/a.yaml:1")), "{run}");
    ws.write("k/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, datta: {}}");
    let run = ws.env("PATH", &path).reconcile(["diff", "-k", "k"]).exits_with(4);
    assert!(run.stdout.contains("    k/a.yaml:1:56: unknown field `datta`\n"), "{run}");
    let annotations = ws.env("PATH", &path).reconcile(["diff", "-k", "k", "-o", "github"]).exits_with(4).stdout;
    assert!(annotations.contains("/k/a.yaml,line=1"), "{annotations}");

    // What is generated has no line of its own: a line of the output is no line of any file.
    ws.write("k/kustomization.yaml", "configMapGenerator: [{name: a, literals: [a=b]}]\n");
    let run = ws.env("PATH", &path).reconcile(["diff", "-k", "k"]).exits_with(1);
    assert!(run.stdout.lines().any(|line| line.ends_with("  k/kustomization.yaml")), "{run}");

    ws.write("k/kustomization.yaml", "resources: [missing.yaml]\n");
    let run = ws.env("PATH", &path).reconcile(["diff", "-k", "k"]).exits_with(2);
    let theirs = ws.kubectl(["kustomize", "k"]).exits_with(1);
    let message = messages(&run).remove(0);
    assert!(message.starts_with("k: `kubectl kustomize` failed: ") && message.contains(theirs.stderr.trim()), "{run}");
    let run = ws.env("PATH", "/nowhere").reconcile(["diff", "-k", "k"]).exits_with(2);
    assert_eq!(messages(&run), ["`-k` needs `kustomize` or `kubectl` on PATH, and neither is there"]);
}

/// The error and the hint of a run that read nothing.
fn said(ws: &Workspace, arguments: &[&str]) -> Vec<(String, String)> {
    let path = with_kubectl(ws);
    let run = ws.as_user("admin").env("PATH", &path).reconcile([arguments, &["-o", "json"]].concat()).exits_with(2);
    let report = run.report();
    let hints = report["errors"].as_array().unwrap().iter().map(|error| error["hint"].as_str().unwrap_or_default());
    messages(&run).into_iter().zip(hints.map(ToOwned::to_owned)).collect()
}

#[test]
fn a_kustomization_or_a_chart_as_manifests_leads_to_its_tool() {
    let ws = Workspace::new();
    ws.write(
        "overlays/prod/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    );
    ws.write("overlays/prod/a.yaml", &config_map("a"));
    ws.write("old/kustomization.yml", "resources: [a.yaml]\n");
    ws.write("part/kustomization.yaml", "kind: Component\nresources: [a.yaml]\n");
    for (folder, name) in
        [("overlays/prod", "kustomization.yaml"), ("old", "kustomization.yml"), ("part", "kustomization.yaml")]
    {
        let expected = format!("{folder}/{name}: this is a kustomization, not a Kubernetes object");
        let hint = format!("pass `-k {folder}`, or what `kubectl kustomize {folder}` prints");
        assert_eq!(said(&ws, &["diff", "-f", folder]), [(expected, hint)]);
    }
    let file = "overlays/prod/kustomization.yaml";
    let [(message, hint)] = &said(&ws, &["diff", "-k", file])[..] else { panic!() };
    assert_eq!(message, &format!("{file}: is a file, and `-k` takes the directory of a kustomization"));
    assert_eq!(hint, "pass its directory: `-k overlays/prod`");
    let [(_, hint)] = &said(&ws, &["diff", "-k", "overlays/prod/a.yaml"])[..] else { panic!() };
    assert_eq!(hint, "`-f overlays/prod/a.yaml` reads manifests");
    let [(message, _)] = &said(&ws, &["diff", "-k", "nowhere"])[..] else { panic!() };
    assert!(message.contains("must build at directory") && !message.contains("run.go"), "{message}");
    let [(message, _)] = &said(&ws, &["diff", "-f", ""])[..] else { panic!() };
    assert_eq!(message, "the name of a file is empty");
    ws.write("chart/kustomization.yaml", "helmCharts:\n- {name: web, releaseName: web}\n");
    let [(_, hint)] = &said(&ws, &["diff", "-k", "chart"])[..] else { panic!() };
    assert!(hint.contains("--enable-helm chart | kubectl reconcile diff -f -`"), "{hint}");
    // Flux has a kind of the same name, and its objects are in such files as well.
    ws.write(
        "flux/kustomization.yaml",
        "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a}}",
    );
    let flux = ws.reconcile(["diff", "-f", "flux"]).exits_with(4);
    assert!(
        flux.stdout.contains("the server has no kind `Kustomization` in `kustomize.toolkit.fluxcd.io/v1`"),
        "{flux}"
    );

    ws.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
    ws.write("chart/values.yaml", "replicas: 3\n");
    ws.write("chart/templates/web.yaml", "{{- if .Values.web }}\nkind: Deployment\n");
    for arguments in [&["diff", "-f", "chart"][..], &["diff", "-R", "-f", "chart/"]] {
        let [(message, hint)] = &said(&ws, arguments)[..] else { panic!("{arguments:?}") };
        assert!(message.ends_with(": this directory is a Helm chart, and its templates are no manifests"), "{message}");
        assert!(hint.starts_with("`helm template NAME chart") && hint.contains("`-f -`"), "{hint}");
    }
    let [(message, hint)] = &said(&ws, &["diff", "-f", "chart/Chart.yaml"])[..] else { panic!() };
    assert!(
        message.contains("describes a Helm chart") && hint.contains("`helm template NAME chart`"),
        "{message}: {hint}"
    );
    // A kind may be called so.
    ws.write("kinds/Chart.yaml", &config_map("chart"));
    assert_eq!(names(&ws.reconcile(["diff", "-f", "kinds"]).exits_with(1)), ["chart"]);
}

#[test]
fn inputs_exclude_each_other_as_in_kubectl() {
    let ws = Workspace::new();
    for arguments in [&["-f", "a.yaml", "-k", "k"][..], &["-k", "k", "-R"], &["-k", "k", "-k", "k"], &[]] {
        let ours = ws.reconcile(["diff"].iter().chain(arguments)).exits_with(2);
        assert_eq!(ours.stdout, "");
        if !arguments.contains(&"k") || arguments.len() < 4 || arguments[0] == "-f" {
            assert_ne!(ws.kubectl(["diff"].iter().chain(arguments)).code, 0);
        }
    }
}

#[test]
fn a_configuration_in_the_working_directory_is_named_where_the_input_is_no_file() {
    let ws = Workspace::new();
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}";
    ws.write("new.yaml", manifest);
    ws.write(".kubectl-reconcile.yaml", "apiVersion: kubectl-reconcile/v1\nkind: Config\nmanualManagers: [k9s]");
    let diff = |arguments: &[&str]| ws.stdin(manifest).reconcile([&["diff"][..], arguments].concat()).exits_with(1);
    let path = ws.folder().join(".kubectl-reconcile.yaml");
    let message = format!("using the configuration {}", path.display());
    assert!(diff(&["-f", "-"]).stderr.contains(&message));
    assert!(!diff(&["-f", "new.yaml"]).stderr.contains("using the configuration"));
    assert!(!diff(&["-f", "-", "--config", ".kubectl-reconcile.yaml"]).stderr.contains("using the configuration"));
}
