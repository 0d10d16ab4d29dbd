//! Parts of reports that are nearly always empty.

use std::ops::{Deref, DerefMut};

use serde::{Serialize, Serializer};

/// A part of an object that is empty for most objects of a report, and takes one word then.
#[derive(Clone, Debug)]
pub struct Rare<T>(Option<Box<T>>);

/// A part that may be empty.
pub trait MayBeEmpty: Clone + PartialEq + 'static {
    /// The empty part.
    fn empty() -> &'static Self;
}

impl<T: MayBeEmpty> Rare<T> {
    /// Frees the memory of a part that is empty.
    pub(crate) fn shrink(&mut self) {
        self.0.take_if(|part| **part == *T::empty());
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: MayBeEmpty> From<T> for Rare<T> {
    fn from(part: T) -> Self {
        Self((part != *T::empty()).then(|| Box::new(part)))
    }
}

impl<T: MayBeEmpty> Deref for Rare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::empty())
    }
}

impl<T: MayBeEmpty> DerefMut for Rare<T> {
    /// The part to be changed, for which memory is taken.
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_with(|| Box::new(T::empty().clone()))
    }
}

impl<T: MayBeEmpty + Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ObjectReport;
    use crate::model::object::ObjectMessages;

    #[test]
    fn an_empty_part_takes_one_word() {
        let mut messages = Rare::<ObjectMessages>::default();
        messages.warnings.push("odd".to_owned());
        messages.shrink();
        assert_eq!(messages.warnings, ["odd"]);
        messages.warnings.clear();
        messages.shrink();
        assert!(messages.0.is_none() && Rare::from(ObjectMessages::default()).0.is_none());
        assert!(messages.warnings.is_empty());
    }

    /// There may be a hundred thousand of them.
    #[test]
    fn the_report_of_an_object_is_small() {
        assert!(size_of::<ObjectReport>() <= 500, "{} bytes", size_of::<ObjectReport>());
    }
}
