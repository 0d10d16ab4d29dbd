//! As much of Markdown as the documents use: fenced blocks, and comments that set the scene.

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// ```` ```sh ````: a script.
    Script,
    /// ```` ```console ````: commands behind `$ `, and what they print.
    Console,
    /// `<!-- setup … -->`: a script that the reader does not see.
    Setup,
}

/// A block that can be run.
#[derive(Clone, Debug)]
pub struct Block {
    pub language: Language,
    pub text: String,
    /// Where it begins.
    pub line: usize,
    /// Why it is not run: what stands behind `ignore: `.
    pub ignored: Option<String>,
}

impl Block {
    pub fn is_run(&self) -> bool {
        self.ignored.is_none()
    }
}

/// All blocks of a document, in their order.
pub fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let (language, ignored, end) = if line.trim() == "<!-- setup" {
            (Some(Language::Setup), None, "-->")
        } else if let Some(info) = line.trim_start().strip_prefix("```").filter(|info| !info.is_empty()) {
            let (name, rest) = info.split_once(' ').unwrap_or((info, ""));
            let language = match name {
                "sh" => Some(Language::Script),
                "console" => Some(Language::Console),
                _ => None,
            };
            (language, rest.strip_prefix("ignore: ").map(ToOwned::to_owned), "```")
        } else {
            continue;
        };
        let mut text = String::new();
        for (_, line) in lines.by_ref() {
            if line.trim() == end {
                break;
            }
            text += line;
            text.push('\n');
        }
        if let Some(language) = language {
            blocks.push(Block { language, text, line: number + 1, ignored });
        }
    }
    blocks
}

/// Returns true if a console block says what is printed. A line `...` stands for any lines, and `…` in a line for any text; the
/// number of blanks does not count.
pub fn agrees(expected: &str, printed: &str) -> bool {
    let lines = |text: &str| text.lines().map(squeezed).collect::<Vec<_>>();
    matches(&lines(expected), &lines(printed))
}

/// What is printed, with the lines of a block that stand for more than one text.
pub fn updated(expected: &str, printed: &str) -> String {
    let patterns: Vec<&str> = expected.lines().filter(|line| line.contains('…') && !line.starts_with("$ ")).collect();
    let line = |line: &str| {
        let pattern = patterns.iter().find(|pattern| line_matches(&squeezed(pattern), &squeezed(line)));
        format!("{}\n", pattern.copied().unwrap_or(line))
    };
    printed.lines().map(line).collect()
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn matches(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((any, rest)) if any == "..." => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, others)| line_matches(line, first) && matches(rest, others))
        }
    }
}

fn line_matches(expected: &str, printed: &str) -> bool {
    let mut parts = expected.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn blocks_and_expectations_are_read() {
    let text =
        "a\n```sh\nls\n```\n```yaml\na: b\n```\n<!-- setup\ntouch x\n-->\n```console ignore: no cluster\n$ ls\n```\n";
    let found = blocks(text);
    let languages: Vec<Language> = found.iter().map(|block| block.language).collect();
    assert_eq!(languages, [Language::Script, Language::Setup, Language::Console]);
    assert_eq!((found[0].text.as_str(), found[0].line), ("ls\n", 2));
    assert_eq!(found[2].ignored.as_deref(), Some("no cluster"));
    assert!(agrees("$ a\n...\nc  d\n", "$ a\nx\ny\nc d\n"));
    assert!(agrees("a … b … c\n", "a 1 b 2 c\n"));
    assert!(!agrees("a … b\n", "a 1 c\n") && !agrees("a\n", "a\nb\n") && !agrees("a\nb\n", "a\n"));
}
