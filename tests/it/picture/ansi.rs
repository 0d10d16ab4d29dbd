//! What a terminal shows of coloured text: spans with a style.

/// How a span looks; colours by their number on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a terminal switches each of them on and off by itself")]
pub struct Style {
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub reverse: bool,
    pub colour: Option<u8>,
}

/// Text of one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub style: Style,
    pub text: String,
}

/// The lines of a text. An escape that sets no style fails the test: a picture that leaves something out would not be true.
pub fn lines(text: &str) -> Vec<Vec<Span>> {
    let mut style = Style::default();
    text.lines().map(|line| spans(line, &mut style)).collect()
}

fn spans(line: &str, style: &mut Style) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut push = |style: Style, text: &str| match spans.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.style == style => last.text.push_str(text),
        _ => spans.push(Span { style, text: text.to_owned() }),
    };
    let mut parts = line.split("\u{1b}[");
    push(*style, parts.next().unwrap_or_default());
    for part in parts {
        let (codes, text) = part.split_once('m').unwrap_or_else(|| panic!("an escape that sets no style: {part:?}"));
        apply(style, codes);
        push(*style, text);
    }
    spans
}

fn apply(style: &mut Style, codes: &str) {
    for code in codes.split(';') {
        let code: u8 = if code.is_empty() { 0 } else { code.parse().unwrap_or_else(|_| panic!("a style: {codes:?}")) };
        match code {
            0 => *style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            3 => style.italic = true,
            4 => style.underline = true,
            7 => style.reverse = true,
            22 => (style.bold, style.dim) = (false, false),
            23 => style.italic = false,
            24 => style.underline = false,
            27 => style.reverse = false,
            30..=37 => style.colour = Some(code - 30),
            90..=97 => style.colour = Some(code - 90 + 8),
            39 => style.colour = None,
            _ => panic!("a style that the picture does not know: {codes:?}"),
        }
    }
}

#[test]
fn styles_begin_and_end() {
    let shown = lines("a\u{1b}[32mb\u{1b}[0mc\n\u{1b}[1;31md\u{1b}[22me");
    let span = |text: &str, style: Style| Span { style, text: text.to_owned() };
    let plain = Style::default();
    let red = Style { colour: Some(1), ..Style::default() };
    let green = Style { colour: Some(2), ..plain };
    assert_eq!(shown[0], [span("a", plain), span("b", green), span("c", plain)]);
    assert_eq!(shown[1], [span("d", Style { bold: true, ..red }), span("e", red)]);
}
