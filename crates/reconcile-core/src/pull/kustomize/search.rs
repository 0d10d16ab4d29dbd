//! The search for places whose edits, together, change the build as it should.

use std::collections::BTreeSet;

use manifest_edit::{Change, Edit, Step, edit};
use serde_json::Value;

use super::candidate::{AcceptedChange, Candidate};
use super::candidates::candidates;
use super::edited::{Texts, edited};
use super::proof::{Build, Difference, identity_of};
use super::tree::Tree;

/// The most builds of one search.
const MOST_BUILDS: usize = 12;

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The place of each change, or the reason why there is none.
    pub places: Vec<Result<Candidate, String>>,
    /// The new texts of the files.
    pub files: Texts,
}

/// One change while places are tried.
struct Tried<'w> {
    wanted: &'w AcceptedChange,
    object: Option<String>,
    candidates: Vec<Candidate>,
    /// The first candidate outside of the overlay, for the message.
    outside: Option<String>,
    at: usize,
    /// Another object that the last candidate changed as well.
    also: Option<String>,
}

impl Tried<'_> {
    fn candidate(&self) -> Option<&Candidate> {
        self.candidates.get(self.at)
    }

    fn is_at(&self, difference: &Difference) -> bool {
        let path = &self.wanted.edit.path;
        self.object.as_ref() == Some(&difference.object)
            && (path.starts_with(&difference.path)
                || difference.path.starts_with(path)
                || is_in_list(path, &difference.path))
    }

    /// Returns true if a difference elsewhere has the wanted value.
    fn has_caused(&self, difference: &Difference) -> bool {
        match (&self.wanted.edit.change, &difference.found) {
            (Change::Set(Value::String(new)), Some(Value::String(found))) => found.contains(new.as_str()),
            (Change::Set(new), Some(found)) => new == found,
            (Change::Remove, None) => true,
            _ => false,
        }
    }
}

/// Returns true if both are in one list: an item that comes or goes moves the others.
fn is_in_list(path: &[Step], other: &[Step]) -> bool {
    matches!(path.split_last(), Some((Step::Index(_), list)) if other.starts_with(list))
}

/// Finds places for changes of a build. `build` builds the tree with other texts of some files; `None` if that fails.
pub fn search(
    tree: &Tree,
    former: &[u8],
    wanted: &[AcceptedChange],
    name: impl Fn(&str) -> String,
    mut build: impl FnMut(&Texts) -> Option<Vec<u8>>,
) -> Found {
    let mut tried: Vec<Tried<'_>> = wanted
        .iter()
        .map(|wanted| {
            let (candidates, outside): (Vec<_>, Vec<_>) =
                candidates(tree, wanted).into_iter().partition(|candidate| tree.is_own(&candidate.file));
            let outside = outside.first().map(|candidate| candidate.file.clone());
            let object = identity_of(former, wanted.edit.document);
            Tried { wanted, object, candidates, outside, at: 0, also: None }
        })
        .collect();
    let mut files = Texts::new();
    let mut builds = 0_usize;
    loop {
        let current = tried.iter().enumerate().filter_map(|(index, tried)| Some((index, tried.candidate()?)));
        let (active, chosen): (Vec<usize>, Vec<&Candidate>) = current.unzip();
        if active.is_empty() {
            break;
        }
        let texts = match edited(tree, &chosen) {
            Ok(texts) => texts,
            Err(refused) => {
                advance(&mut tried, refused.iter().filter_map(|index| active.get(*index)).copied());
                continue;
            }
        };
        if builds >= MOST_BUILDS {
            // What was not proven is not written.
            advance_all(&mut tried);
            break;
        }
        builds += 1;
        let edits: Vec<Edit> = active.iter().filter_map(|index| Some(tried.get(*index)?.wanted.edit.clone())).collect();
        let expected = edit(former, &edits);
        if !expected.refused.is_empty() {
            advance(&mut tried, expected.refused.iter().filter_map(|refused| active.get(refused.edit)).copied());
            continue;
        }
        let after = build(&texts);
        let differences = after.as_ref().map(|after| Build::of(&expected.text).differences(&Build::of(after)));
        match differences {
            Some(differences) if differences.is_empty() => {
                files = texts;
                break;
            }
            Some(differences) => {
                let blamed = blamed(&mut tried, &active, &differences);
                advance(&mut tried, blamed.into_iter());
            }
            // Half of them is tried alone, and the others are left out.
            None => advance(&mut tried, active.into_iter().rev().step_by(2)),
        }
    }
    let overlay = tree.levels.first().map_or("", |level| level.file.as_str());
    let places = tried.into_iter().map(|tried| match tried.candidate() {
        Some(candidate) => Ok(candidate.clone()),
        None => Err(reason(&tried, &name(overlay), &name)),
    });
    Found { places: places.collect(), files }
}

fn advance(tried: &mut [Tried<'_>], which: impl Iterator<Item = usize>) {
    for index in which.collect::<BTreeSet<_>>() {
        if let Some(one) = tried.get_mut(index) {
            one.at = one.at.saturating_add(1);
        }
    }
}

fn advance_all(tried: &mut [Tried<'_>]) {
    for one in tried {
        one.at = one.candidates.len();
    }
}

/// The changes whose candidates did not set their value, or set others as well; all of them if that cannot be told.
fn blamed(tried: &mut [Tried<'_>], active: &[usize], differences: &[Difference]) -> Vec<usize> {
    let mut blamed = BTreeSet::new();
    for difference in differences {
        let at = |index: &&usize| tried.get(**index).is_some_and(|one| one.is_at(difference));
        let own: Vec<usize> = active.iter().filter(at).copied().collect();
        let caused =
            |index: &&usize| own.is_empty() && tried.get(**index).is_some_and(|one| one.has_caused(difference));
        let caused: Vec<usize> = active.iter().filter(caused).copied().collect();
        for index in &caused {
            let named: Vec<&str> = difference.object.split('\0').skip(1).collect();
            let name =
                [named.first().copied(), named.get(2).copied()].into_iter().flatten().collect::<Vec<_>>().join(" ");
            if let Some(one) = tried.get_mut(*index) {
                one.also = Some(name);
            }
        }
        blamed.extend(own.into_iter().chain(caused));
    }
    if blamed.is_empty() { active.to_vec() } else { blamed.into_iter().collect() }
}

fn reason(tried: &Tried<'_>, overlay: &str, name: impl Fn(&str) -> String) -> String {
    let source = tried.outside.as_ref().map(|file| name(file));
    match (&tried.also, source) {
        (Some(also), _) => format!("the place in {overlay} that sets it also sets {also}, whose live value is another"),
        (None, Some(source)) => format!("it is set in {source}, which is outside of the overlay and may be shared"),
        (None, None) => format!("no place that {overlay} or its files have sets it as the live object has it"),
    }
}
