//! Pairs the items of a list with those of the edited one.

use serde_json::Value;

/// Keys that identify items of lists, in this order.
const IDENTITIES: [&str; 8] = ["name", "key", "mountPath", "containerPort", "port", "ip", "type", "path"];
/// Largest table of pairs; longer lists are paired by position.
const MAX_PAIRS: usize = 1 << 18;

/// A step from one list to another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// An old item is kept as this new one.
    Keep(usize, usize),
    /// An old item is removed.
    Remove(usize),
    /// A new item is inserted.
    Insert(usize),
}

/// Aligns two lists: items that are equal or have the same name are kept, others are paired in order between them.
pub(crate) fn align(old: &[Value], new: &[Value]) -> Vec<Pairing> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = |items: &[Value]| items.len().saturating_sub(head);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let tail = tail.min(rest(old)).min(rest(new));
    let old_end = old.len().saturating_sub(tail);
    let new_end = new.len().saturating_sub(tail);
    let mut steps: Vec<Pairing> = (0..head).map(|index| Pairing::Keep(index, index)).collect();
    let mut at = head;
    let mut to = head;
    let matches = common(old.get(head..old_end).unwrap_or_default(), new.get(head..new_end).unwrap_or_default());
    let matches = matches.into_iter().map(|(a, b)| (a.saturating_add(head), b.saturating_add(head)));
    for (next_old, next_new) in matches.chain([(old_end, new_end)]) {
        gap(&mut steps, at..next_old, to..next_new);
        if next_old < old_end {
            steps.push(Pairing::Keep(next_old, next_new));
        }
        (at, to) = (next_old.saturating_add(1), next_new.saturating_add(1));
    }
    steps.extend((0..tail).map(|index| Pairing::Keep(old_end.saturating_add(index), new_end.saturating_add(index))));
    steps
}

/// The former index of each item of a list that has the same items in another order; `None` if it has not.
pub(crate) fn reordered(old: &[Value], new: &[Value]) -> Option<Vec<usize>> {
    if old.len() != new.len() || old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return None;
    }
    let mut is_taken = vec![false; old.len()];
    let mut former = |item: &Value| {
        let mut free = old.iter().zip(&mut is_taken).enumerate().filter(|(_, (_, is_taken))| !**is_taken);
        let (index, (_, taken)) = free.find(|(_, (old, _))| *old == item)?;
        *taken = true;
        Some(index)
    };
    new.iter().map(&mut former).collect()
}

/// Pairs the items between two matches in order; those that have no counterpart are removed or inserted.
fn gap(steps: &mut Vec<Pairing>, mut old: std::ops::Range<usize>, mut new: std::ops::Range<usize>) {
    loop {
        match (old.next(), new.next()) {
            (Some(old), Some(new)) => steps.push(Pairing::Keep(old, new)),
            (Some(old), None) => steps.push(Pairing::Remove(old)),
            (None, Some(new)) => steps.push(Pairing::Insert(new)),
            (None, None) => return,
        }
    }
}

/// The longest common subsequence of two lists.
fn common(old: &[Value], new: &[Value]) -> Vec<(usize, usize)> {
    let height = old.len();
    let width = new.len();
    if height.saturating_mul(width) > MAX_PAIRS {
        return Vec::new();
    }
    let stride = width.saturating_add(1);
    let at = |row: usize, column: usize| row.saturating_mul(stride).saturating_add(column);
    let mut lengths = vec![0_usize; at(height.saturating_add(1), 0)];
    let length = |lengths: &[usize], row, column| lengths.get(at(row, column)).copied().unwrap_or(0);
    for (row, a) in old.iter().enumerate().rev() {
        for (column, b) in new.iter().enumerate().rev() {
            let below = row.saturating_add(1);
            let right = column.saturating_add(1);
            let best = if is_same(a, b) {
                length(&lengths, below, right).saturating_add(1)
            } else {
                length(&lengths, below, column).max(length(&lengths, row, right))
            };
            if let Some(length) = lengths.get_mut(at(row, column)) {
                *length = best;
            }
        }
    }
    let mut row = 0;
    let mut column = 0;
    let mut pairs = Vec::new();
    while let (Some(a), Some(b)) = (old.get(row), new.get(column)) {
        let below = row.saturating_add(1);
        let right = column.saturating_add(1);
        if is_same(a, b) {
            pairs.push((row, column));
            (row, column) = (below, right);
        } else if length(&lengths, below, column) >= length(&lengths, row, right) {
            row = below;
        } else {
            column = right;
        }
    }
    pairs
}

/// Returns true if two items are equal or have the same name.
fn is_same(a: &Value, b: &Value) -> bool {
    let identity = || IDENTITIES.iter().find_map(|key| a.get(key).zip(b.get(key)));
    a == b || identity().is_some_and(|(a, b)| a == b && !a.is_object() && !a.is_array())
}
