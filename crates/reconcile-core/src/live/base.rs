//! The base: the objects as they were applied last, by the identity of their targets.

use std::collections::HashMap;
use std::sync::Arc;

use structured_merge::ObjectKey;

use super::discovery::Discovery;
use super::resolve::{Namespaces, Target, resolve};
use crate::diagnostic::{Code, Diagnostic};
use crate::manifest::{BaseObject, Manifest};

/// The objects of a base. The version of an object's API does not count, as a manifest may move on to another one.
#[derive(Debug, Default)]
pub struct BaseObjects {
    objects: HashMap<Identity, Target>,
}

/// The group, kind, namespace and name of an object.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity(String, String, Option<String>, String);

impl Identity {
    fn of(key: &ObjectKey) -> Self {
        Self(key.gvk.group.clone(), key.gvk.kind.clone(), key.namespace.clone(), key.name.clone())
    }
}

impl BaseObjects {
    /// Resolves the manifests of a base as those of the input. Errors are those of [`resolve`].
    pub fn of(
        manifests: Vec<Manifest>,
        discovery: &Discovery,
        namespaces: &Namespaces,
    ) -> Result<Self, Vec<Diagnostic>> {
        let targets = resolve(manifests, discovery, namespaces)?;
        Ok(Self { objects: targets.into_iter().map(|target| (Identity::of(&target.key), target)).collect() })
    }

    /// The number of its objects that no target has taken.
    pub fn count(&self) -> usize {
        self.objects.len()
    }

    /// Takes the object of a target out of the base, and gives it to the target. If the base is encrypted, all values of the target are
    /// secret as well; if it is not decrypted, the target cannot be compared.
    pub fn give_to(&mut self, target: &mut Target) {
        let Some(base) = self.objects.get(&Identity::of(&target.key)) else { return self.give(target) };
        if base.desired.origin.is_encrypted {
            Arc::make_mut(&mut target.desired.origin).encrypted();
        }
        match &base.resource {
            Err(reason) if reason.code == Code::Encrypted => {
                target.resource = Err(reason.clone());
                self.objects.remove(&Identity::of(&target.key));
            }
            _ => self.give(target),
        }
    }

    fn give(&mut self, target: &Target) {
        let base = match self.objects.remove(&Identity::of(&target.key)) {
            None => BaseObject::Absent,
            Some(base) if base.desired.object == target.desired.object => BaseObject::Same,
            Some(base) => BaseObject::Differs(Box::new(base.desired.object.into_tree())),
        };
        // A base that is known already stays.
        let _ = target.base.set(base);
    }

    /// Returns true if the base has the object of a target, and no target has taken it.
    pub fn has(&self, target: &Target) -> bool {
        self.objects.contains_key(&Identity::of(&target.key))
    }

    /// Gives a target its base if the base has the object: what it means that it does not is not known. Returns true if it has it.
    pub fn give_known_to(&mut self, target: &Target) -> bool {
        let has = target.base.get().is_none() && self.has(target);
        if has {
            self.give(target);
        }
        has
    }

    /// The objects that no target has taken, in the order of their files.
    pub fn into_rest(self) -> Vec<Target> {
        let mut rest: Vec<Target> = self.objects.into_values().collect();
        rest.sort_by(|a, b| {
            let place = |target: &Target| {
                let source = &target.desired.origin.source;
                (source.file.clone(), source.line)
            };
            place(a).cmp(&place(b)).then_with(|| a.key.cmp(&b.key))
        });
        rest
    }
}
