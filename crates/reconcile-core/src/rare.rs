//! Parts of objects that are nearly always empty.

use std::ops::{Deref, DerefMut};

use serde::{Serialize, Serializer};

/// Returns true for a count of nothing, which a report leaves out.
pub fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A part of an object that is empty for most objects of a run, and takes one word then.
#[derive(Clone, Debug)]
pub struct Rare<T>(Option<Box<T>>);

/// A part that may be empty.
pub trait MayBeEmpty: Clone + PartialEq + 'static {
    /// The empty part.
    fn empty() -> &'static Self;
}

impl<T: MayBeEmpty> Rare<T> {
    /// Returns true if no memory is taken for the part.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Frees the memory of a part that is empty.
    pub fn shrink(&mut self) {
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

impl<T: MayBeEmpty> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: MayBeEmpty + Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Notes {
        texts: Vec<String>,
    }

    impl MayBeEmpty for Notes {
        fn empty() -> &'static Self {
            static EMPTY: LazyLock<Notes> = LazyLock::new(Notes::default);
            &EMPTY
        }
    }

    #[test]
    fn an_empty_part_takes_one_word() {
        assert_eq!(size_of::<Rare<Notes>>(), size_of::<usize>());
        let mut notes = Rare::<Notes>::default();
        notes.texts.push("odd".to_owned());
        notes.shrink();
        assert_eq!(notes.texts, ["odd"]);
        notes.texts.clear();
        notes.shrink();
        assert!(notes.0.is_none() && Rare::from(Notes::default()).0.is_none());
        assert!(notes.texts.is_empty());
    }
}
