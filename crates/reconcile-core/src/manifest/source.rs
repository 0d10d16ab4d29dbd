//! The text of the input: the location of each object, and the lines that a message may show.

#![expect(clippy::indexing_slicing, reason = "the starts of lines are of the very bytes")]

use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kube_yaml::Mark;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Excerpt, Line, Location, is_kustomization};
use crate::object::{is_nearly_secret, is_string_data};
use crate::text::{LineIndex, visible};

/// The name of standard input.
pub const STDIN: &str = "stdin";

/// The name of the configurations last applied by client-side `kubectl apply`.
pub const LAST_APPLIED_NAME: &str = "last-applied";

/// The name of the input if the command line names the objects: they have no manifests.
pub const COMMAND_LINE: &str = "command line";

/// The name of the description of a chart.
pub const CHART: &str = "Chart.yaml";

/// The hint for a chart in a directory.
pub fn rendered_by_helm(directory: &str) -> String {
    format!("`helm template NAME {directory}` renders it, and `-f -` reads what that prints")
}

/// The name of the manifest that Helm stored for a revision of a release: `helm/RELEASE@REVISION`.
pub fn stored_name(release: &str, revision: u32) -> String {
    format!("{STORED}{release}@{revision}")
}

/// The beginning of the names of manifests that Helm stored.
const STORED: &str = "helm/";

/// Returns true for a path that stands for standard input.
pub fn is_stdin(path: &OsStr) -> bool {
    path == "-" || path == "/dev/stdin"
}

/// Returns true if an input has this name that was read from no file: nobody can open it.
pub fn is_stream(name: &str) -> bool {
    let is_revision = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_stored = || {
        let stored = name.strip_prefix(STORED).and_then(|rest| rest.rsplit_once('@'));
        stored.is_some_and(|(release, revision)| !release.contains('/') && is_revision(revision))
    };
    [STDIN, LAST_APPLIED_NAME, COMMAND_LINE].contains(&name) || is_stored()
}

/// The file and the line of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The file as it was named, that of the resource that a kustomization built it from, the `kustomization.yaml` that generated it, `stdin` for standard input, `helm/RELEASE@REVISION`
    /// for what Helm stored, `last-applied`, or `command line` for objects that were named there.
    pub file: Arc<str>,
    /// First line of the object, from 1; of one that a kustomization generated, in the output of the build.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// The template that Helm rendered it from, by the comment above it: `CHART/templates/FILE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Arc<str>>,
    /// The number of the document in the file, from 1.
    #[serde(skip)]
    pub document: usize,
    /// The indices of the object in the lists of the document around it, the outermost first.
    #[serde(skip)]
    pub items: Vec<usize>,
}

impl Source {
    /// The first line of the object in the input; `None` if it was built from a kustomization or a template, which do not have it.
    pub fn line_in_file(&self) -> Option<u32> {
        let is_built = is_kustomization(&self.file) || self.template_of_stream().is_some();
        (!is_built).then_some(self.line)
    }

    /// Returns the template if its text came from a stream, which nobody can open.
    pub fn template_of_stream(&self) -> Option<&str> {
        self.template.as_deref().filter(|_| is_stream(&self.file))
    }

    /// A message about the object, with the template.
    pub(super) fn explained(&self, message: String) -> String {
        explained(message, self.template.as_deref())
    }
}

/// A message with the template that Helm rendered the text from.
pub(super) fn explained(message: String, template: Option<&str>) -> String {
    match template {
        Some(template) => format!("{message} (from `{template}`)"),
        None => message,
    }
}

/// `deploy/web.yaml:12`, `k/kustomization.yaml`, `stdin:12 (shop/templates/web.yaml)`
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if !is_kustomization(&self.file) {
            write!(f, ":{}", self.line)?;
        }
        self.template.as_ref().map_or(Ok(()), |template| write!(f, " ({template})"))
    }
}

impl Diagnostic {
    /// Makes an error about an object.
    pub fn of_source(source: &Source, message: impl Into<String>) -> Self {
        Self::at_line(&source.file, source.line, message)
    }

    /// Adds the lines of its location, and those of a second mark that is involved.
    pub fn shown_in(mut self, text: &SourceText, also: Option<Mark>) -> Self {
        if let Some(mark) = self.location.as_ref().and_then(Location::mark) {
            self.excerpt = text.excerpt(mark, also).map(Box::new);
        }
        self
    }
}

/// The text of one input, shared by everything that was read from it.
#[derive(Clone)]
pub struct SourceText(Arc<Text>);

struct Text {
    bytes: Vec<u8>,
    /// The regular file that has it.
    file: Option<PathBuf>,
    /// Made when the first line is shown.
    index: OnceLock<Index>,
}

impl fmt::Debug for SourceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceText({} bytes)", self.0.bytes.len())
    }
}

impl From<Vec<u8>> for SourceText {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Text { bytes, file: None, index: OnceLock::new() }))
    }
}

impl SourceText {
    /// The text of a regular file.
    pub fn of_file(bytes: Vec<u8>, file: PathBuf) -> Self {
        Self(Arc::new(Text { bytes, file: Some(file), index: OnceLock::new() }))
    }

    /// The regular file that has the text; `None` for a stream, a URL or the output of a program.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The bytes that were read.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The template that Helm rendered the document at a line from, by the comment below its separator, as for documents that can be
    /// read.
    pub(super) fn template_at(&self, line: u32) -> Option<Arc<str>> {
        let index = self.0.index.get_or_init(|| Index::of(self.bytes()));
        let document = index.document(line)?;
        let line_at = |number: u32| {
            let at = usize::try_from(number).ok()?.checked_sub(1)?;
            let rest = self.bytes().get(*index.lines.starts.get(at)?..)?;
            rest.split(|byte| *byte == b'\n').next()
        };
        let mut lines = document.lines.clone().map_while(line_at).skip_while(|line| is_separator(line));
        template(std::str::from_utf8(lines.next()?.strip_prefix(b"#")?.trim_ascii()).ok()?)
    }

    /// The lines around a mark, and a second mark if one is involved. `None` if the document is or may be a Secret, and for an
    /// input in UTF-16, whose bytes are not the text that was read.
    pub fn excerpt(&self, at: Mark, also: Option<Mark>) -> Option<Excerpt> {
        if self.bytes().starts_with(&[0xFF, 0xFE]) || self.bytes().starts_with(&[0xFE, 0xFF]) {
            return None;
        }
        let index = self.0.index.get_or_init(|| Index::of(self.bytes()));
        let line = |number: u32, mark: Option<(u32, bool)>| {
            index.document(number).filter(|document| !document.is_withheld)?;
            Some(Line::new(number, &index.lines.line(self.bytes(), number)?, mark))
        };
        let marked = line(at.line, Some((at.column, true)))?;
        let also = also.filter(|also| also.line != at.line);
        let mut lines: Vec<Line> = Vec::new();
        let above = at.line.saturating_sub(1);
        match also {
            Some(also) => lines.extend(line(also.line, Some((also.column, false)))),
            // The line above shows how deep the marked line should be indented.
            None if index.document(at.line).is_some_and(|document| document.lines.contains(&above)) => {
                lines.extend(line(above, None).filter(|line| !line.is_blank()));
            }
            None => {}
        }
        lines.push(marked);
        lines.sort_by_key(|line| line.number);
        Some(Excerpt { lines })
    }
}

/// The lines, and the documents that they belong to.
struct Index {
    lines: LineIndex,
    documents: Vec<DocumentLines>,
}

/// The lines between two separators.
struct DocumentLines {
    lines: Range<u32>,
    /// True if the document is or may be a Secret.
    is_withheld: bool,
}

impl Index {
    fn of(bytes: &[u8]) -> Self {
        let lines = LineIndex::of(bytes);
        let starts = &lines.starts;
        let number = |index: usize| u32::try_from(index).map_or(u32::MAX, |index| index.saturating_add(1));
        let mut documents = Vec::new();
        let mut first = 0;
        for (index, start) in starts.iter().enumerate().chain([(starts.len(), &bytes.len())]) {
            if index < starts.len() && !is_separator(&bytes[*start..]) {
                continue;
            }
            let text = &bytes[starts[first]..*start];
            documents.push(DocumentLines { lines: number(first)..number(index), is_withheld: may_be_secret(text) });
            first = index;
        }
        Self { lines, documents }
    }

    fn document(&self, line: u32) -> Option<&DocumentLines> {
        let at = self.documents.partition_point(|document| document.lines.end <= line);
        self.documents.get(at)
    }
}

/// Returns true if a line that separates documents begins here. A line that only looks like one (`-----BEGIN`) does not.
fn is_separator(rest: &[u8]) -> bool {
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(rest) = line.strip_prefix(b"---") else { return false };
    let rest = rest.trim_ascii();
    rest.is_empty() || rest.starts_with(b"#")
}

/// Returns true if a text may be that of a Secret: it has the word, or `stringData`, or a kind that is spelt alike, or kinds that
/// cannot be read with certainty. Nothing is parsed, as the text may be broken.
fn may_be_secret(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if text.split(|c| !is_word(c)).any(|word| matches!(word, "Secret" | "SecretList") || is_string_data(word)) {
        return true;
    }
    // Letters outside ASCII stay as they are, so that indices are the same.
    let text = text.to_ascii_lowercase();
    let mut kinds = text.match_indices("kind").filter_map(|(at, word)| {
        let (before, rest) = text.split_at_checked(at)?;
        let rest = rest.strip_prefix(word)?.trim_start_matches(['"', '\'']).trim_start_matches(' ');
        let value = rest.strip_prefix(':').filter(|_| !before.ends_with(is_word))?;
        Some((before, value))
    });
    let Some(first) = kinds.next() else { return true };
    !std::iter::once(first).chain(kinds).all(|(before, value)| {
        is_mapping_below(before, value) || plain_name(value).is_some_and(|name| !is_nearly_secret(name))
    })
}

/// Returns true if what follows a key is a mapping on the next line, as in the schema of a kind's own `kind`. Reads the line of
/// the key only where the key ends it, so that a text of one line is read once.
fn is_mapping_below(before: &str, value: &str) -> bool {
    let is_blank = |c: char| c.is_whitespace() && c != '\n';
    let Some(below) = value.trim_start_matches(is_blank).strip_prefix('\n') else { return false };
    let content = below.trim_start_matches(' ');
    let column = before.rsplit('\n').next().map_or(0, str::len);
    let after = content.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    below.len().saturating_sub(content.len()) > column
        && after.len() < content.len()
        && (after.is_empty() || after.starts_with(':'))
}

/// The value where it is a name in plain letters, perhaps in quotes.
fn plain_name(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t']);
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let text = quote.and_then(|quote| text.strip_prefix(quote)).unwrap_or(text);
    let mut rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let name = text.strip_suffix(rest).unwrap_or_default();
    if let Some(quote) = quote {
        rest = rest.strip_prefix(quote)?;
    }
    let ends = rest.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | '}'));
    (!name.is_empty() && ends).then_some(name)
}

/// Longest path of a template, in bytes.
const LONGEST: usize = 512;

/// Reads the comment that `helm template` and `helm get manifest` print above a document: `Source: CHART/templates/FILE`. The path
/// is only shown. A text that cannot be such a path, or has characters that nobody sees, is no template.
pub(crate) fn template(comment: &str) -> Option<Arc<str>> {
    let path = comment.strip_prefix("Source:")?.trim();
    let is_name = |name: &str| !matches!(name, "" | "." | "..");
    let is_of_chart = path.split('/').skip(1).any(|name| matches!(name, "templates" | "crds"));
    let is_path = path.len() <= LONGEST && path.split('/').all(is_name) && !path.contains([':', '\\']);
    (is_of_chart && is_path && visible(path) == path).then(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, line: u32) -> Vec<u32> {
        let excerpt = SourceText::from(text.as_bytes().to_vec()).excerpt(Mark { line, column: 1 }, None);
        excerpt.map(|excerpt| excerpt.lines.iter().map(|line| line.number).collect()).unwrap_or_default()
    }

    #[test]
    fn a_line_is_shown_with_the_one_before_it_but_not_across_documents() {
        let text = "kind: ConfigMap\ndata: x\n---\nkind: Service\nspec: y\n";
        assert_eq!(shown(text, 2), [1, 2]);
        assert_eq!(shown(text, 1), [1]);
        assert_eq!(shown(text, 4), [3, 4]);
        assert_eq!(shown(text, 9), [0_u32; 0]);
    }

    #[test]
    fn no_line_of_what_may_be_a_secret_is_shown() {
        for secret in [
            "kind: Secret\ndata: {a: aGVsbG8=}",
            "data: {a: aGVsbG8=}\nkind: \"Secret\" # here",
            "{\"data\":{\"a\":\"x\"},\"kind\":\"Secret\"}",
            "kind: >-\n  Secret\ndata: x",
            "kind: \"\\x53ecret\"\ndata: x",
            "kind: &k Something\ndata: x",
            "kind: *k\ndata: x",
            "kind: {{ .Values.kind }}\ndata: x",
            "kind: SecretList\nitems: []",
            "apiVersion: v1\ndata: {a: aGVsbG8=}",
            "kind: List\nitems:\n- kind: Deployment\n- kind: Secret",
            "data: |\n-----BEGIN KEY\nkind: Secret",
            "kind:\ndata: x",
            "items:\n- kind:\n  data: x",
            "kind: secret\ndata: x",
            "Kind: secret\nkind: Pod\ndata: x",
            "kind: secrets\ndata: x",
            "{\"kind\":\"secretlist\",\"items\":[]}",
            "kind: Secert\ndata: x",
            "kind: Foo\nstringData: {a: x}",
            "kind: Foo\nstringdata:\n  a: x",
            "{\"kind\": \"Foo\", \"stringData\": {\"a\": \"x\"}",
            "kind: ConfigMap\n  stringData: {{ .Values.x }}",
        ] {
            for line in 1..=3 {
                assert_eq!(shown(secret, line), [0_u32; 0], "{secret}");
            }
        }
        for plain in [
            "kind: Deployment\nspec: {secretKeyRef: x, imagePullSecrets: []}",
            "{\"kind\": \"Deployment\"}",
            "kind: SealedSecret\nspec: {encryptedData: {}}",
            "kind: ServiceAccount\nsecrets: []",
            "kind: 'ConfigMap' # no more\nkind: Service",
            "kind: CustomResourceDefinition\nproperties:\n  kind:\n    type: string",
        ] {
            assert_eq!(shown(plain, 1), [1], "{plain}");
        }
        assert_eq!(shown("kind: Secret\n---\nkind: Pod\nspec: x\n---\nkind: Secret\n", 4), [3, 4]);
    }

    #[test]
    fn only_paths_of_charts_are_templates() {
        for path in ["pay/templates/web.yaml", "pay/charts/redis/templates/a/b.yaml", "pay/crds/a.yaml"] {
            assert_eq!(template(&format!("Source: {path}")).as_deref(), Some(path));
        }
        let long = format!("Source: pay/templates/{}", "a".repeat(LONGEST));
        for comment in [
            "Source:",
            "source: pay/templates/web.yaml",
            "see pay/templates/web.yaml",
            "Source: https://example.com/templates/web.yaml",
            "Source: /etc/templates/web.yaml",
            "Source: ../pay/templates/web.yaml",
            "Source: pay/templates/../../web.yaml",
            "Source: templates/web.yaml",
            "Source: pay/web.yaml",
            "Source: pay/templates/a\u{202e}b.yaml",
            "Source: pay/templates/\u{1b}[2J",
            "Source: pay/templates/##vso[task.complete]",
            &long,
        ] {
            assert_eq!(template(comment), None, "{comment:?}");
        }
    }
}
