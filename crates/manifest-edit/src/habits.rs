//! The layout that the author of a document chose.

use kube_yaml::{Item, Kind, Layout, Node};

use super::lines::Lines;

/// The layout that new lines follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// Indentation of a mapping inside of another.
    pub unit: usize,
    /// Indentation of the `-` of a list below its key.
    pub dash: usize,
    /// Columns from the `-` of an item to its value.
    pub gap: usize,
}

impl Habits {
    /// Those of the first collections of a document that show them, else those of `kubectl get -o yaml`.
    pub fn of(root: &Node, lines: &Lines<'_>) -> Self {
        let mut seen = Seen::default();
        seen.look(root, lines);
        Self { unit: seen.unit.unwrap_or(2), dash: seen.dash.unwrap_or(0), gap: seen.gap.unwrap_or(2) }
    }
}

/// The columns from the `-` of an item to its value, if both are on one line.
pub(crate) fn gap(item: &Item, lines: &Lines<'_>) -> Option<usize> {
    let is_beside = item.node.begin > item.begin && !lines.slice(item.begin..item.node.begin).contains('\n');
    is_beside.then(|| lines.column(item.node.begin).saturating_sub(lines.column(item.begin)))
}

#[derive(Default)]
struct Seen {
    unit: Option<usize>,
    dash: Option<usize>,
    gap: Option<usize>,
}

impl Seen {
    fn look(&mut self, node: &Node, lines: &Lines<'_>) {
        if self.unit.is_some() && self.dash.is_some() && self.gap.is_some() {
            return;
        }
        match &node.kind {
            Kind::Mapping(Layout::Block, entries) => {
                for entry in entries {
                    let below = lines.column(entry.value.at).saturating_sub(lines.column(entry.key.begin));
                    match &entry.value.kind {
                        Kind::Mapping(Layout::Block, _) if below > 0 => drop(self.unit.get_or_insert(below)),
                        Kind::Sequence(Layout::Block, _) => drop(self.dash.get_or_insert(below)),
                        _ => {}
                    }
                    self.look(&entry.value, lines);
                }
            }
            Kind::Sequence(Layout::Block, items) => {
                self.gap = self.gap.or_else(|| items.iter().find_map(|item| gap(item, lines)));
                for item in items {
                    self.look(&item.node, lines);
                }
            }
            _ => {}
        }
    }
}

/// The spaces inside of JSON on one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spaces {
    /// Behind `:`.
    pub colon: &'static str,
    /// Behind `,`.
    pub comma: &'static str,
}

impl Spaces {
    /// Those of YAML, where a `:` needs one.
    pub const USUAL: Self = Self { colon: " ", comma: " " };

    /// Those of the first entries of a JSON document that show them.
    pub fn of_json(root: &Node, lines: &Lines<'_>) -> Self {
        let mut colon = None;
        let mut comma = None;
        look_for_spaces(root, lines, &mut colon, &mut comma);
        let colon = colon.unwrap_or(" ");
        Self { colon, comma: comma.unwrap_or(colon) }
    }
}

type Space = Option<&'static str>;

fn look_for_spaces(node: &Node, lines: &Lines<'_>, colon: &mut Space, comma: &mut Space) {
    if colon.is_some() && comma.is_some() {
        return;
    }
    let between = |end: usize, begin: usize| {
        let text = lines.slice(end..begin);
        (!text.contains('\n')).then(|| if text.ends_with([' ', '\t']) { " " } else { "" })
    };
    let begins: Vec<(usize, usize)> = match &node.kind {
        Kind::Mapping(_, entries) => {
            let spaces = entries.iter().filter_map(|entry| between(entry.colon?, entry.value.begin));
            *colon = colon.or(spaces.into_iter().next());
            entries.iter().map(|entry| (entry.key.begin, entry.value.end)).collect()
        }
        Kind::Sequence(_, items) => items.iter().map(|item| (item.begin, item.node.end)).collect(),
        Kind::Scalar(_) | Kind::Alias(_) => return,
    };
    let pairs = begins.windows(2).filter_map(|pair| match pair {
        [(_, end), (begin, _)] => between(*end, *begin),
        _ => None,
    });
    *comma = comma.or(pairs.into_iter().next());
    node.children().for_each(|child| look_for_spaces(child, lines, colon, comma));
}
