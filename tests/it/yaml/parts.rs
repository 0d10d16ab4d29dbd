//! Reading an input in parts gives what reading it as a whole gives.

use std::fmt::Write as _;

use kubectl_reconcile::desired::files::Inputs;
use kubectl_reconcile::desired::yaml::{Part, Stream, Validation};
use kubectl_reconcile::desired::{InputProblem, ReadOptions, Selector, Share, read};

/// The parts of an input are those of the whole, one behind the other.
pub(super) fn check(input: &[u8], whole: &Stream) {
    for size in [1, 40] {
        let (mut count, mut documents, mut problems) = (0, Vec::new(), Vec::new());
        for part in Part::of(input, size) {
            let read = part.read(Validation::Warn);
            let numbered = read.documents.into_iter().map(|document| (document.number + count, document));
            documents.extend(numbered);
            problems.extend(read.problems);
            count += read.count;
        }
        assert_eq!(problems, whole.problems, "in parts of {size} bytes");
        assert_eq!(count, whole.count, "in parts of {size} bytes");
        assert_eq!(documents.len(), whole.documents.len(), "in parts of {size} bytes");
        for ((number, document), expected) in documents.iter().zip(&whole.documents) {
            assert_eq!((*number, document.start, &document.value), (expected.number, expected.start, &expected.value));
            assert_eq!(document.positions.value_at(&[]), expected.positions.value_at(&[]));
        }
    }
}

#[test]
fn an_input_is_cut_at_separators_only() {
    let text = "# one\n--- # two\na: 1\n---\n---\nb: |\n  ---\n----\nc\n---\nd: 1\n";
    let parts = Part::of(text.as_bytes(), 1);
    let read: Vec<_> = parts.iter().map(|part| part.read(Validation::Warn)).collect();
    let lines: Vec<_> = read.iter().map(|stream| stream.documents.first().map(|first| first.start.line)).collect();
    assert_eq!(lines, [Some(3), Some(6), Some(11)]);
    assert_eq!(Part::of(text.as_bytes(), 1000).len(), 1);
    assert_eq!(Part::of(b"{\"a\": 1}\n---\nb: 1\n---\nc: 1\n", 1).len(), 1);
}

#[test]
fn problems_are_told_in_the_same_order_however_the_work_is_shared() {
    let filler = "#".repeat(200) + "\n";
    let mut text = String::new();
    for number in 0..4000 {
        let body = match number % 1000 {
            1 => "a: [\n".to_owned(),
            2 => "apiVersion: v1\nkind: ConfigMap\n".to_owned(),
            _ => format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c-{}}}\ndata: {{n: '{number}'}}\n",
                number % 3999
            ),
        };
        let _ = writeln!(text, "{filler}{body}---");
    }
    let mut inputs = Inputs::default();
    inputs.content("a.yaml", Ok(text.clone().into_bytes()));
    inputs.content("b.yaml", Ok(b"x: [\n".to_vec()));
    let inputs = inputs.finish().unwrap();
    assert!(Share::of(&inputs).len() > 3);
    let options = ReadOptions { validation: Validation::Strict, selector: Selector::default(), allow_empty: false };
    let problems: Vec<InputProblem> = read(&inputs, &options).unwrap_err();
    let told: Vec<_> =
        problems.iter().map(|problem| (problem.file.as_deref().unwrap(), problem.line.unwrap())).collect();
    let line = |number: usize| text.split("---\n").take(number).map(|part| part.lines().count() + 1).sum::<usize>() + 2;
    let line = |number: usize| ("a.yaml", u32::try_from(line(number)).unwrap());
    let syntax = [1, 1001, 2001, 3001].map(line);
    let structure = [2, 1002, 2002, 3002].map(line);
    assert_eq!(told[..4], syntax);
    assert_eq!(told[4..8], structure.map(|(file, line)| (file, line)));
    assert_eq!(told[8], ("b.yaml", 1));
    assert_eq!(told[9], line(3999));
    assert!(problems[9].message.ends_with("is defined twice, first at a.yaml:2"), "{}", problems[9]);
}
