//! The bounds of the reader, and time and memory that are linear in the size of the input.

use std::time::{Duration, Instant};

use kube_yaml::{AliasBudget, Chunk, MAX_DEPTH, MAX_DOCUMENT, Severity, Stream, Validation};

fn read(input: &str) -> Stream {
    kube_yaml::read(input.as_bytes(), Validation::Strict)
}

/// Writes a line with a number.
type Line = fn(usize) -> String;

fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("{}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn the_deepest_allowed_nesting_is_read_on_a_small_stack() {
    let block: String = (0..MAX_DEPTH).map(|level| " ".repeat(level) + "a:\n").collect();
    let inputs = [
        format!("a: {}", nested("[", "]", MAX_DEPTH - 1)),
        nested("{\"a\":", "}", MAX_DEPTH).replace(":}", ":1}"),
        block,
    ];
    for input in inputs {
        let documents = std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(move || {
                let stream = read(&input);
                let copy = stream.documents.clone();
                drop(copy);
                stream.documents.len()
            })
            .unwrap();
        assert_eq!(documents.join().unwrap(), 1);
    }
}

#[test]
fn deeper_nesting_is_refused_with_the_bound() {
    let block: String = (0..=MAX_DEPTH).map(|level| " ".repeat(level) + "a:\n").collect();
    for input in [
        nested("[", "]", MAX_DEPTH + 1),
        nested("{\"a\":", "}", 5000),
        nested("- ", "", 5000),
        block,
        "[".repeat(100_000),
    ] {
        let stream = read(&input);
        assert!(stream.documents.is_empty());
        assert!(stream.diagnostics[0].message.contains("1000 levels"), "{:?}", stream.diagnostics);
    }
}

#[test]
fn a_document_above_the_bound_is_refused_and_the_others_are_read() {
    let large = format!("a: \"{}\"\n", "x".repeat(MAX_DOCUMENT));
    let stream = read(&format!("a: 1\n---\n{large}---\nb: 2\n"));
    assert_eq!(stream.documents.iter().map(|document| document.number).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(stream.diagnostics[0].message, "the document is larger than 8 MiB");
    assert_eq!(stream.diagnostics[0].mark.line, 3);

    let large = format!("{{\"a\":[{}1]}}", "1,".repeat(MAX_DOCUMENT / 2));
    let stream = read(&format!("{{\"a\":1}}{large}{{\"b\":2}}"));
    assert_eq!(stream.documents.len(), 2);
    assert_eq!(stream.diagnostics[0].message, "the document is larger than 8 MiB");
}

#[test]
fn a_refusal_behind_many_losses_is_not_missed() {
    let input = "a: 1\n".repeat(1000) + "b: .inf\n";
    let stream = kube_yaml::read(input.as_bytes(), Validation::Warn);
    assert!(stream.documents.is_empty());
    assert_eq!(stream.diagnostics.last().map(|diagnostic| diagnostic.severity), Some(Severity::Refused));
    assert!(stream.diagnostics.len() < 200);
}

#[test]
fn aliases_that_grow_without_limit_are_refused_quickly() {
    let level = |level: usize| format!("a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 9].join(", "));
    let levels = (1..30).map(level).collect::<Vec<_>>().join("\n");
    let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 500].join(", "));
    for input in [format!("a0: &a0 [x]\n{levels}"), long] {
        let stream = read(&input);
        assert!(stream.documents.is_empty());
        assert!(stream.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Refused));
        assert!(stream.diagnostics[0].message.contains("expand"), "{:?}", stream.diagnostics);
    }
}

/// A document of 30 KB whose aliases take about 20 MiB as the reader counts them, far below the limit of go-yaml.
fn hungry_document() -> String {
    format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(20_000), vec!["*a"; 1000].join(", "))
}

#[test]
fn aliases_have_one_budget_for_all_documents_of_a_run() {
    let documents = |count: usize| vec![hungry_document(); count].join("---\n");
    assert_eq!(read(&documents(2)).documents.len(), 2);
    let stream = read(&documents(30));
    let [diagnostic] = &stream.diagnostics[..] else { panic!("{:?}", stream.diagnostics) };
    assert!(diagnostic.message.contains("expand the input by more than 66 MiB"), "{diagnostic:?}");
    assert_eq!((diagnostic.severity, stream.documents.len()), (Severity::Refused, 3));
}

#[test]
fn the_chunks_of_a_run_share_a_budget_in_any_order() {
    let text = vec![hungry_document(); 6].join("---\n");
    let chunks = Chunk::of(text.as_bytes(), 1);
    assert_eq!(chunks.len(), 6);
    let is_exhausted_after = |order: &[usize]| {
        let budget = AliasBudget::for_input(text.len());
        for number in order {
            let _ = chunks[*number].read(Validation::Warn, &budget);
        }
        budget.is_exhausted()
    };
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]] {
        assert!(is_exhausted_after(&order));
        assert!(!is_exhausted_after(&order[..3]));
    }
}

#[test]
fn the_time_grows_with_the_input_and_no_faster() {
    let lines = |count: usize, line: Line| (0..count).map(line).collect::<String>();
    let inputs: [(&str, Line); 13] = [
        ("anchors", |at| format!("k{at}: &a{at} v\n")),
        ("aliases", |at| if at == 0 { "a: &a v\n".into() } else { format!("k{at}: *a\n") }),
        ("keys", |at| format!("key-{at}: v\n")),
        ("one key", |_| "key: v\n".into()),
        ("items", |at| format!("- item {at}\n")),
        ("documents", |at| format!("---\nkey-{at}: v\n")),
        ("empty documents", |_| "---\n".into()),
        ("comments", |_| "# comment\n".into()),
        (
            "anchors inside each other",
            |at| if at < 900 { format!("{}k: &a{at}\n", " ".repeat(at)) } else { String::new() },
        ),
        ("unknown aliases", |at| format!("k{at}: *x\n")),
        ("merges over each other", |at| if at == 0 { "<<: &a {b: 1}\n".into() } else { "<<: *a\n".into() }),
        ("tabs", |at| format!("k{at}: v\n\t# c\n")),
        ("dots", |_| "....\n".into()),
    ];
    for (name, line) in inputs {
        let input = lines(20_000, line);
        let start = Instant::now();
        let _ = kube_yaml::read(input.as_bytes(), Validation::Warn);
        assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
    }
    for (name, input) in [
        ("a flow sequence", format!("a: [{}]", "1, ".repeat(100_000))),
        ("one line of JSON", format!("{{\"a\":[{}1]}}", "{\"b\":1},".repeat(100_000))),
        ("a quoted text", format!("a: \"{}\"", "x\n  ".repeat(100_000))),
        ("a literal text", format!("a: |\n{}", "  x\n".repeat(100_000))),
        ("brackets that are not closed", "[{".repeat(100_000)),
        ("quotes that are not closed", "a: \"b\n".repeat(100_000)),
        ("invalid bytes in JSON", format!("{{\"a\":\"{}\"}}", "\\ud800".repeat(100_000))),
    ] {
        let start = Instant::now();
        let _ = kube_yaml::read(input.as_bytes(), Validation::Warn);
        assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
    }
}
