//! The search for places whose edits, together, change the build as it should.

mod narrow;

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Validation, read};
use manifest_edit::{Refusal, edit};
use serde_json::Value;

use crate::pull::kustomize::candidate::{AcceptedChange, Allowed, Candidate};
use crate::pull::kustomize::candidates::Places;
use crate::pull::kustomize::edited::{Texts, edited};
use crate::pull::kustomize::names::Documents;
use crate::pull::kustomize::proof::{Build, Difference, identity_of};
use crate::pull::kustomize::reason::Reasons;
use crate::pull::kustomize::subject::Subject;
use crate::pull::kustomize::tree::Tree;
use crate::pull::kustomize::tried::Tried;
use crate::pull::meaning::{Accepted, is_meant, made_together};

/// The most builds of one search. With the one that found the changes, they are a dozen.
const MOST_BUILDS: usize = 11;
/// The last builds of a search, in which what is still wrong is left out.
const LAST_BUILDS: usize = 4;

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The place of each change, or the reason why there is none.
    pub places: Vec<Result<Candidate, String>>,
    /// The new texts of the files.
    pub files: Texts,
}

/// Finds places for changes of a build. `build` builds the tree with other texts of some files; `None` if that fails. `name` names files
/// in reasons.
pub fn search(
    tree: &Tree,
    former: &[u8],
    wanted: &[AcceptedChange],
    allowed: Allowed,
    name: impl Fn(&str) -> String,
    build: impl FnMut(&Texts) -> Option<Vec<u8>>,
) -> Found {
    let documents = Documents::of(tree);
    let read = read(former, Validation::Warn).documents;
    let all = wanted;
    let tried = all.iter().map(|wanted| {
        let document = read.iter().find(|document| document.number == wanted.edit.document);
        let object = document.map_or(&Value::Null, |document| &document.value);
        let places = match &wanted.place {
            Some(place) => Places { allowed: vec![place.clone()], is_known: true, ..Places::default() },
            None => Subject::of(tree, &documents, wanted, all, &read).places(allowed),
        };
        let object = (!object.is_null()).then(|| identity_of(object));
        Tried { wanted, object, places, at: 0, also: None, refused: None, is_open: false }
    });
    let mut search = Search {
        tree,
        former,
        tried: tried.collect(),
        builds: 0,
        trusted: BTreeMap::new(),
        held: BTreeSet::new(),
        suspects: Vec::new(),
        elsewhere: None,
        blamed: Vec::new(),
        proven: None,
    };
    let files = search.files(build);
    let reasons = Reasons { tree, allowed, former: &read, name: &name };
    let places = search.tried.into_iter().map(|tried| match tried.candidate() {
        Some(candidate) => Ok(candidate.clone()),
        None => Err(reasons.of(&tried)),
    });
    Found { places: places.collect(), files }
}

/// The reason why a choice of candidates does not give the changes.
enum Failure {
    /// The texts of the files leave no room for these changes.
    Edit(Vec<(usize, Option<Refusal>)>),
    /// The text of the build leaves no room for these.
    Change(Vec<usize>),
    /// The build with all changes does not mean what they mean.
    NotMeant,
    /// As many builds as a search may have were made.
    NoMoreBuilds,
    /// The files cannot be built.
    Breaks,
    /// Their build differs from the one with the changes.
    Differs(Vec<Difference>),
}

struct Search<'s> {
    tree: &'s Tree,
    former: &'s [u8],
    tried: Vec<Tried<'s>>,
    builds: usize,
    /// The candidates that were in a build which changed nothing elsewhere, by their changes.
    trusted: BTreeMap<usize, usize>,
    /// The changes that wait until it is known which one breaks the build.
    held: BTreeSet<usize>,
    /// The changes of which one breaks the build together with those that are trusted.
    suspects: Vec<usize>,
    /// The first change elsewhere that the one makes, if it does not break the build as a whole.
    elsewhere: Option<Difference>,
    /// The places that were given up for what they changed elsewhere, by their changes.
    blamed: Vec<Vec<(usize, usize)>>,
    /// The texts that were proven before places were tried again, with the candidate of each change.
    proven: Option<(Texts, Vec<usize>)>,
}

impl<'s> Search<'s> {
    /// The texts whose build has exactly the changes that still have a candidate.
    fn files(&mut self, mut build: impl FnMut(&Texts) -> Option<Vec<u8>>) -> Texts {
        loop {
            let active = self.active();
            if active.is_empty() && self.held.is_empty() {
                return Texts::new();
            }
            match self.attempt(&active, &mut build) {
                Ok(texts) if self.held.is_empty() => {
                    let at = self.tried.iter().map(|tried| tried.at).collect();
                    if self.proven.is_some() || self.builds >= MOST_BUILDS || !self.go_back() {
                        return texts;
                    }
                    self.proven = Some((texts, at));
                }
                _ if self.proven.is_some() => return self.return_to_proven(),
                Ok(_) => self.learn(&active, &[]),
                Err(Failure::Edit(refused)) => self.refuse(&refused),
                Err(Failure::Change(refused)) => self.advance(&refused),
                Err(Failure::Differs(differences)) => {
                    if !self.share(&active, &differences) {
                        self.learn(&active, &differences);
                    }
                }
                Err(Failure::Breaks) => self.narrow(&active),
                Err(end @ (Failure::NotMeant | Failure::NoMoreBuilds)) => {
                    if matches!(end, Failure::NoMoreBuilds) {
                        self.leave_open(&active);
                    }
                    self.give_up(&(0..self.tried.len()).collect::<Vec<_>>());
                    return Texts::new();
                }
            }
        }
    }

    /// The changes that have a candidate and do not wait.
    fn active(&self) -> Vec<usize> {
        let is_active = |(index, tried): (usize, &Tried<'_>)| {
            (!self.held.contains(&index) && tried.candidate().is_some()).then_some(index)
        };
        self.tried.iter().enumerate().filter_map(is_active).collect()
    }

    /// Edits the files for these changes, and builds them: the texts, if the build has exactly the changes. What was not proven is not
    /// written.
    fn attempt(
        &mut self,
        active: &[usize],
        build: &mut impl FnMut(&Texts) -> Option<Vec<u8>>,
    ) -> Result<Texts, Failure> {
        let chosen: Vec<&Candidate> = active.iter().filter_map(|index| self.tried.get(*index)?.candidate()).collect();
        let texts = edited(self.tree, &chosen).map_err(|refused| {
            let of_active = |(index, refusal): (usize, _)| Some((*active.get(index)?, refusal));
            Failure::Edit(refused.into_iter().filter_map(of_active).collect())
        })?;
        let accepted = self.accepted(active);
        let expected = edit(self.former, &made_together(self.former, &accepted));
        if !expected.refused.is_empty() {
            let refused = expected.refused.iter().filter_map(|refused| active.get(refused.edit)).copied();
            return Err(Failure::Change(refused.collect()));
        }
        if !is_meant(self.former, &expected.text, &accepted) {
            return Err(Failure::NotMeant);
        }
        if self.builds >= MOST_BUILDS {
            return Err(Failure::NoMoreBuilds);
        }
        self.builds = self.builds.saturating_add(1);
        let after = build(&texts).ok_or(Failure::Breaks)?;
        let differences = Build::of(&expected.text).differences(&Build::of(&after));
        if differences.is_empty() { Ok(texts) } else { Err(Failure::Differs(differences)) }
    }

    /// The changes of these positions, as edits of the build.
    fn accepted(&self, active: &[usize]) -> Vec<Accepted<'s>> {
        let wanted = active.iter().filter_map(|index| self.tried.get(*index)).map(|one| one.wanted);
        let accepted = wanted.map(|AcceptedChange { key, change, edit, live, .. }| Accepted {
            object: (key, Vec::new()),
            change,
            edit,
            live: live.as_deref(),
        });
        accepted.collect()
    }

    /// Takes what the texts of files leave no room for.
    fn refuse(&mut self, refused: &[(usize, Option<Refusal>)]) {
        for (index, refusal) in refused {
            if let (Some(one), Some(refusal)) = (self.tried.get_mut(*index), *refusal)
                && let Some(candidate) = one.candidate().cloned()
            {
                one.refused.get_or_insert((candidate, refusal));
            }
        }
        self.advance(&refused.iter().map(|(index, _)| *index).collect::<Vec<_>>());
    }

    fn return_to_proven(&mut self) -> Texts {
        let Some((texts, at)) = self.proven.take() else { return Texts::new() };
        for (tried, at) in self.tried.iter_mut().zip(at) {
            tried.at = at;
        }
        texts
    }

    /// Gives accepted changes that have no place of their own the place of another one that turned out to set them as well: a source of
    /// `replacements` sets all of its targets. Returns false if there are none.
    fn share(&mut self, active: &[usize], differences: &[Difference]) -> bool {
        let mut shared = false;
        for difference in differences {
            let cause = self.causes(active, difference).find_map(|index| self.tried.get(index)?.candidate());
            let Some(place) = cause.cloned() else { continue };
            let is_without = |one: &&mut Tried<'_>| one.candidate().is_none() && one.is_wanted(difference);
            for one in self.tried.iter_mut().filter(is_without).filter(|one| !one.places.allowed.contains(&place)) {
                one.at = one.places.allowed.len();
                one.places.allowed.push(place.clone());
                shared = true;
            }
        }
        shared
    }

    /// Takes what a build shows: the candidates that did not set their value are followed by others, and those that changed something
    /// else as well, once it is known which of them did.
    fn learn(&mut self, active: &[usize], differences: &[Difference]) {
        let mut wrong = BTreeSet::new();
        let mut suspects = BTreeSet::new();
        let mut elsewhere = None;
        for difference in differences {
            let is_at = |index: &&usize| self.tried.get(**index).is_some_and(|one| one.is_at(difference));
            let own: Vec<usize> = active.iter().filter(is_at).copied().collect();
            if own.is_empty() {
                let caused: Vec<usize> = self.causes(active, difference).collect();
                // A place that sets other objects sets the same field there.
                let alike: Vec<usize> =
                    caused.iter().filter(|index| self.is_of_field(**index, difference)).copied().collect();
                suspects.extend(if alike.is_empty() { caused } else { alike });
                elsewhere = elsewhere.or(Some(difference));
                continue;
            }
            let over = self.causes_over(active, &own, difference);
            for index in &over {
                self.blame(*index, Some(difference));
            }
            wrong.extend(if over.is_empty() { own } else { over });
        }
        let Some(elsewhere) = elsewhere else {
            self.trust(active);
            self.advance(&wrong.into_iter().collect::<Vec<_>>());
            self.look_among_held();
            return;
        };
        self.elsewhere = Some(elsewhere.clone());
        let suspects: Vec<usize> = if suspects.is_empty() { active.to_vec() } else { suspects.into_iter().collect() };
        self.advance(&wrong.iter().filter(|index| !suspects.contains(index)).copied().collect::<Vec<_>>());
        self.narrow(&suspects);
    }

    /// The candidates that set the value of a difference.
    fn causes<'a>(&'a self, active: &'a [usize], difference: &'a Difference) -> impl Iterator<Item = usize> + 'a {
        let has_caused = |index: &usize| self.tried.get(*index).is_some_and(|one| one.has_caused(difference));
        active.iter().copied().filter(has_caused)
    }

    /// The candidates of other changes that set their value over the one of a change: one entry sets all objects that it fits.
    fn causes_over(&self, active: &[usize], own: &[usize], difference: &Difference) -> Vec<usize> {
        let is_former = |index: &usize| {
            let former = self.tried.get(*index).map(|one| one.wanted.change.desired.as_deref());
            former == Some(difference.found.as_ref())
        };
        if own.iter().any(is_former) {
            return Vec::new();
        }
        let others = self.causes(active, difference).filter(|index| !own.contains(index));
        others.filter(|index| self.is_of_field(*index, difference)).collect()
    }

    /// Returns true if a change is one of the field of a difference, in whichever object.
    fn is_of_field(&self, index: usize, difference: &Difference) -> bool {
        self.tried.get(index).map(|one| one.wanted.edit.path.last()) == Some(difference.path.last())
    }

    fn trust(&mut self, active: &[usize]) {
        let places = active.iter().filter_map(|index| Some((*index, self.tried.get(*index)?.at)));
        self.trusted.extend(places);
    }

    /// Takes the next candidates of some changes, or none if the search has to end.
    fn advance(&mut self, which: &[usize]) {
        if self.is_ending() {
            return self.give_up(which);
        }
        for index in which {
            if let Some(one) = self.tried.get_mut(*index) {
                one.at = one.at.saturating_add(1);
            }
        }
    }

    /// Records that the search ends before it is known which of these changes is wrong.
    fn leave_open(&mut self, which: &[usize]) {
        for index in which {
            if let Some(one) = self.tried.get_mut(*index) {
                one.is_open = true;
            }
        }
    }

    fn give_up(&mut self, which: &[usize]) {
        for index in which {
            if let Some(one) = self.tried.get_mut(*index) {
                one.at = one.places.allowed.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use manifest_edit::{Change, Edit, Step};
    use serde_json::json;
    use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Op};

    use super::*;
    use crate::compare::{Class, FieldChange};
    use crate::pull::kustomize::{How, Level};

    fn map(name: &str, value: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: {value}}}\n")
    }

    /// An overlay with a resource for each name.
    fn tree(names: &[String]) -> Tree {
        let files: Vec<String> = names.iter().map(|name| format!("{name}.yaml")).collect();
        let level = Level::new("/o".into(), "/o/kustomization.yaml".into(), json!({"resources": files}));
        let mut tree = Tree { levels: vec![level], ..Tree::default() };
        for (name, file) in names.iter().zip(files) {
            tree.files.insert(format!("/o/{file}"), Arc::from(map(name, "old").into_bytes()));
        }
        tree.with_affixes()
    }

    /// The build of such a tree: the resources in their order.
    fn built(tree: &Tree, names: &[String], texts: &Texts) -> Vec<u8> {
        let text = |name: &String| {
            let path = format!("/o/{name}.yaml");
            texts.get(&path).cloned().unwrap_or_else(|| tree.files[&path].to_vec())
        };
        names.iter().map(text).collect::<Vec<_>>().join(&b"---\n"[..])
    }

    fn wanted(names: &[String]) -> Vec<AcceptedChange> {
        let change = |(index, name): (usize, &String)| AcceptedChange {
            key: ObjectKey { gvk: GroupVersionKind::new("v1", "ConfigMap"), namespace: None, name: name.clone() },
            change: FieldChange::new(
                structured_merge::Change {
                    path: FieldPath::of(&["data", "a"]),
                    op: Op::Change,
                    from: Some(json!("new")),
                    to: Some(json!("old")),
                },
                Class::ChangedByOther,
            ),
            edit: Edit {
                document: index + 1,
                path: vec![Step::Key("data".into()), Step::Key("a".into())],
                change: Change::Set(json!("new")),
            },
            live: None,
            place: None,
        };
        names.iter().enumerate().map(change).collect()
    }

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("m{number}")).collect()
    }

    #[test]
    fn changes_share_one_build() {
        let names = names(30);
        let tree = tree(&names);
        let former = built(&tree, &names, &Texts::new());
        let builds = Cell::new(0);
        let build = |texts: &Texts| {
            builds.set(builds.get() + 1);
            Some(built(&tree, &names, texts))
        };
        let found = search(&tree, &former, &wanted(&names), Allowed::default(), ToOwned::to_owned, build);
        assert!(found.places.iter().all(|place| place.as_ref().is_ok_and(|place| place.how == How::Resource)));
        assert_eq!((found.files.len(), builds.get()), (30, 1));
    }

    #[test]
    fn one_edit_that_breaks_the_build_is_left_out_and_the_others_are_made() {
        let names = names(16);
        let tree = tree(&names);
        let former = built(&tree, &names, &Texts::new());
        for broken in ["/o/m1.yaml", "/o/m7.yaml", "/o/m16.yaml"] {
            let builds = Cell::new(0);
            let build = |texts: &Texts| {
                builds.set(builds.get() + 1);
                (!texts.contains_key(broken)).then(|| built(&tree, &names, texts))
            };
            let found = search(&tree, &former, &wanted(&names), Allowed::default(), ToOwned::to_owned, build);
            assert!(builds.get() <= MOST_BUILDS, "{}", builds.get());
            assert_eq!(found.files.len(), 15, "{broken}: {:?}", found.places);
            assert!(!found.files.contains_key(broken));
        }
    }

    #[test]
    fn what_is_not_proven_is_not_written() {
        let names = names(4);
        let tree = tree(&names);
        let former = built(&tree, &names, &Texts::new());
        let builds = Cell::new(0);
        // Something else changes with every build.
        let build = |texts: &Texts| {
            builds.set(builds.get() + 1);
            let mut text = built(&tree, &names, texts);
            text.extend_from_slice(b"---\n");
            text.extend_from_slice(map("other", &builds.get().to_string()).as_bytes());
            Some(text)
        };
        let found = search(&tree, &former, &wanted(&names), Allowed::default(), ToOwned::to_owned, build);
        assert!(found.places.iter().all(Result::is_err) && found.files.is_empty());
        assert!(builds.get() <= MOST_BUILDS, "{}", builds.get());
    }
}
