//! Draws the lines of a terminal as SVG, in light or dark as the reader has it.

use std::fmt::Write as _;

use super::ansi::{Span, Style};

const FONT: usize = 14;
/// Height of a line.
const LINE: usize = 20;
/// Width of a column, in tenths.
const COLUMN: usize = 84;
const MARGIN: usize = 20;

/// Colours 1 to 6 of a terminal, and what is not coloured: on light and on dark ground.
const STYLE: &str = "
text { font: 14px ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
rect { fill: #ffffff; stroke: #d1d9e0 }
.b { font-weight: 700 } .d { fill: #59636e } .i { font-style: italic } .u { text-decoration: underline }
.c1 { fill: #b3151f } .c2 { fill: #0a6b32 } .c3 { fill: #855300 } .c4 { fill: #0b5cad } .c5 { fill: #8f1560 } .c6 { fill: #00697a }
@media (prefers-color-scheme: dark) {
text { fill: #e4e8ec } rect { fill: #12171d; stroke: #2a323b } .d { fill: #98a3ae }
.c1 { fill: #ff9492 } .c2 { fill: #7fd99a } .c3 { fill: #e9bd66 } .c4 { fill: #7cb7ff } .c5 { fill: #f59fd0 } .c6 { fill: #6fd3e0 }
}
";

/// The picture, as wide as the terminal or as the longest line. Each span has its place and its width, so that columns are straight in every font.
pub fn draw(lines: &[Vec<Span>], columns: usize) -> String {
    let length = |line: &Vec<Span>| line.iter().map(|span| span.text.chars().count()).sum();
    let columns = lines.iter().map(length).fold(columns, usize::max);
    let width = columns * COLUMN / 10 + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
    );
    let _ = writeln!(svg, "<title>What kubectl reconcile diff prints</title>\n<style>{STYLE}</style>");
    let _ = writeln!(svg, "<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\"/>", width - 1, height - 1);
    for (at, line) in lines.iter().enumerate() {
        let y = MARGIN + at * LINE + FONT;
        let mut column = 0;
        for span in line {
            let length = span.text.chars().count();
            let blanks = span.text.chars().take_while(|c| *c == ' ').count();
            let text = span.text.trim_matches(' ');
            if !text.is_empty() {
                let x = place(column + blanks);
                let wide = text.chars().count() * COLUMN;
                let _ = writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{y}\" textLength=\"{}.{}\" lengthAdjust=\"spacingAndGlyphs\"{}>{}</text>",
                    wide / 10,
                    wide % 10,
                    classes(span.style),
                    escaped(text)
                );
            }
            column += length;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn place(column: usize) -> String {
    let tenths = MARGIN * 10 + column * COLUMN;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn classes(style: Style) -> String {
    let of = |is: bool, class: &str| if is { class.to_owned() } else { String::new() };
    // Black and white are what is not coloured; bright colours look like the others.
    let colour = style.colour.map(|colour| colour % 8).filter(|colour| (1..=6).contains(colour));
    let classes = [
        of(style.bold, "b"),
        of(style.dim, "d"),
        of(style.italic, "i"),
        of(style.underline, "u"),
        colour.map(|colour| format!("c{colour}")).unwrap_or_default(),
    ];
    assert!(!style.reverse, "the picture does not know reversed text");
    let classes: Vec<String> = classes.into_iter().filter(|class| !class.is_empty()).collect();
    if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
