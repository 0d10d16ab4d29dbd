//! Reading an input in chunks gives what reading it as a whole gives.

use kube_yaml::{AliasBudget, Chunk, Stream, Validation};

/// Checks that the chunks of an input have the documents of the whole, in order.
pub(super) fn check(input: &[u8], whole: &Stream) {
    for size in [1, 40] {
        let mut count = 0;
        let mut documents = Vec::new();
        let mut diagnostics = Vec::new();
        let budget = AliasBudget::for_input(input.len());
        for chunk in Chunk::of(input, size) {
            let read = chunk.read(Validation::Warn, &budget);
            let numbered = read.documents.into_iter().map(|document| (document.number + count, document));
            documents.extend(numbered);
            diagnostics.extend(read.diagnostics);
            count += read.count;
        }
        assert_eq!(diagnostics, whole.diagnostics, "in chunks of {size} bytes");
        assert_eq!(count, whole.count, "in chunks of {size} bytes");
        assert_eq!(documents.len(), whole.documents.len(), "in chunks of {size} bytes");
        for ((number, document), expected) in documents.iter().zip(&whole.documents) {
            assert_eq!((*number, document.start, &document.value), (expected.number, expected.start, &expected.value));
            assert_eq!(document.positions.value_at(&[]), expected.positions.value_at(&[]));
            assert_eq!(document.comment, expected.comment);
        }
    }
}

#[test]
fn an_input_is_cut_at_separators_only() {
    let text = "# one\n--- # two\na: 1\n---\n---\nb: |\n  ---\n----\nc\n---\nd: 1\n";
    let chunks = Chunk::of(text.as_bytes(), 1);
    let budget = AliasBudget::for_input(text.len());
    let read: Vec<_> = chunks.iter().map(|chunk| chunk.read(Validation::Warn, &budget)).collect();
    let lines: Vec<_> = read.iter().map(|stream| stream.documents.first().map(|first| first.start.line)).collect();
    assert_eq!(lines, [Some(3), Some(6), Some(11)]);
    assert_eq!(Chunk::of(text.as_bytes(), 1000).len(), 1);
    assert_eq!(Chunk::of(b"{\"a\": 1}\n---\nb: 1\n---\nc: 1\n", 1).len(), 1);
}

/// Helm writes its comment above the whole text of a definition, which may begin with a separator of its own.
#[test]
fn a_document_has_the_comment_below_its_separator() {
    let long = "x".repeat(kube_yaml::MAX_COMMENT);
    let text = format!(
        "---\n#  first \na: 1\n---\n# second\r\n# more\na: 2\n---\na: 3\n# below\n---\n# alone\n---\na: 4\n---\na: 5\n---\n# two\n# lines\n---\na: 6\n---\n# {long}\na: 6\n---\n \n# late\na: 7\n---\n--- \n# below two\na: 8\n"
    );
    let whole = kube_yaml::read(text.as_bytes(), Validation::Strict);
    let comments: Vec<_> = whole.documents.iter().map(|document| document.comment.as_deref()).collect();
    assert_eq!(
        comments,
        [Some("first"), Some("second"), None, Some("alone"), None, None, None, None, Some("below two")]
    );
    check(text.as_bytes(), &whole);
}

/// A chunk may begin behind the separator that is refused, where nothing is known of a comment before it.
#[test]
fn a_comment_above_a_bad_separator_belongs_to_no_document() {
    let text = "a: 1\n---\n# nothing\n---~\n~\n---\nb: 1\n";
    let whole = kube_yaml::read(text.as_bytes(), Validation::Warn);
    assert_eq!(whole.documents.last().unwrap().comment, None);
    check(text.as_bytes(), &whole);
}
