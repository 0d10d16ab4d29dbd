//! The layout that the author of a document chose.

use kube_yaml::{Kind, Layout, Node};

use super::lines::Lines;

/// The layout that new lines follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// Indentation of a mapping inside of another.
    pub unit: usize,
    /// Indentation of the `-` of a list below its key.
    pub dash: usize,
}

impl Habits {
    /// Those of the first collections of a document that show them, else those of `kubectl get -o yaml`.
    pub fn of(root: &Node, lines: &Lines<'_>) -> Self {
        let (mut unit, mut dash) = (None, None);
        look(root, lines, &mut unit, &mut dash);
        Self { unit: unit.unwrap_or(2), dash: dash.unwrap_or(0) }
    }
}

fn look(node: &Node, lines: &Lines<'_>, unit: &mut Option<usize>, dash: &mut Option<usize>) {
    if unit.is_some() && dash.is_some() {
        return;
    }
    match &node.kind {
        Kind::Mapping(Layout::Block, entries) => {
            for entry in entries {
                let below = lines.column(entry.value.at).saturating_sub(lines.column(entry.key.begin));
                match &entry.value.kind {
                    Kind::Mapping(Layout::Block, _) if below > 0 => drop(unit.get_or_insert(below)),
                    Kind::Sequence(Layout::Block, _) => drop(dash.get_or_insert(below)),
                    _ => {}
                }
                look(&entry.value, lines, unit, dash);
            }
        }
        Kind::Sequence(Layout::Block, items) => items.iter().for_each(|item| look(&item.node, lines, unit, dash)),
        _ => {}
    }
}
