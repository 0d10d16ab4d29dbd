use crate::object::ManagedFieldsEntry;

/// The field manager of an apply, and the managers whose claims pass to it.
///
/// A server-side apply takes a field from another manager only by force, and never becomes the only owner of a field
/// whose value stays. So a client that replaces other managers first moves their claims to its own entry, as
/// client-go's `csaupgrade` does for client-side apply. A string is an applier that takes over no claims: the name of
/// its field manager.
pub trait Applier {
    /// The name of the field manager.
    fn manager(&self) -> &str;

    /// Returns true if the claims of an entry pass to the applier, for the fields that the applier claims as well.
    fn takes_over(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopts(entry)
    }

    /// Returns true if they pass even when nothing else changes: as long as the entry claims a field of the applier,
    /// the object is not in sync.
    fn adopts(&self, _entry: &ManagedFieldsEntry) -> bool {
        false
    }
}

impl Applier for str {
    fn manager(&self) -> &str {
        self
    }
}
