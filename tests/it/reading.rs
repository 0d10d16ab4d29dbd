//! Reading an input on several processors gives what reading it on one gives.

use std::fmt::Write as _;

use kubectl_reconcile::desired::files::Inputs;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{Chunk, Hooks, ReadOptions, read};
use reconcile_core::object::Selector;

#[test]
fn mistakes_are_reported_in_the_same_order_however_the_work_is_shared() {
    let filler = "#".repeat(200) + "\n";
    let mut text = String::new();
    for number in 0..4000 {
        let body = match number % 1000 {
            1 => "a: [\n".to_owned(),
            2 => "apiVersion: v1\nkind: ConfigMap\n".to_owned(),
            _ => format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c-{}}}\ndata: {{v: '{number}'}}\n",
                number % 3999
            ),
        };
        let _ = writeln!(text, "{filler}{body}---");
    }
    let mut inputs = Inputs::default();
    inputs.content("a.yaml", Ok(text.clone().into_bytes()));
    inputs.content("b.yaml", Ok(b"x: [\n".to_vec()));
    let inputs = inputs.finish().unwrap();
    assert!(Chunk::of(&inputs).len() > 3);
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: false,
    };
    let problems: Vec<Diagnostic> = read(&inputs, &options).unwrap_err();
    let reported: Vec<_> = problems
        .iter()
        .map(|problem| problem.location.as_ref().unwrap())
        .map(|at| (&*at.file, at.line.unwrap()))
        .collect();
    let line = |number: usize| text.split("---\n").take(number).map(|part| part.lines().count() + 1).sum::<usize>() + 2;
    let line = |number: usize| ("a.yaml", u32::try_from(line(number)).unwrap());
    let syntax = [1, 1001, 2001, 3001].map(line);
    let structure = [2, 1002, 2002, 3002].map(line);
    assert_eq!(reported[..4], syntax);
    assert_eq!(reported[4..8], structure.map(|(file, line)| (file, line)));
    assert_eq!(reported[8], ("b.yaml", 1));
    assert_eq!(reported[9], line(3999));
    assert!(problems[9].message.ends_with("is defined twice, first at a.yaml:2"), "{}", problems[9]);
}

#[test]
fn too_many_aliases_are_reported_at_the_same_place_in_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let number = |number: usize| {
        let pairs = (0..100).map(|key| format!("k{key}: v")).collect::<Vec<_>>().join(", ");
        let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c-{number}, namespace: n}}\n");
        format!("{object}x: &a {{{pairs}}}\ny: [{}]\n# {}\n", "*a, ".repeat(800), "z".repeat(60_000))
    };
    let text = (0..30).map(number).collect::<Vec<_>>().join("---\n");
    std::fs::write(folder.path().join("a.yaml"), &text).unwrap();
    std::fs::write(folder.path().join("live.yaml"), "").unwrap();
    let run = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-reconcile"));
        let command = command.args(["diff", "-f", "a.yaml", "--live", "live.yaml", "-o", "json"]);
        let output = command.env("SOURCE_DATE_EPOCH", "0").current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = run();
    assert_eq!(first.matches("expand the input by more than").count(), 1, "{first}");
    for _ in 0..5 {
        assert_eq!(run(), first);
    }
}
