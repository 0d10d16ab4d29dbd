use crate::object::ManagedFieldsEntry;

/// The field manager that applies, and whose fields pass to it.
///
/// A server-side apply takes a field from another manager only by force, and never becomes the only owner of a field whose
/// value stays. So a client that wants to succeed other managers first moves their claims to its own entry, as client-go's
/// `csaupgrade` does for client-side apply. A plain field manager succeeds nobody: that is a string, its name.
pub trait Applier {
    /// The name of the field manager.
    fn manager(&self) -> &str;

    /// Returns true if the claims of an entry pass to the applier, where it claims the same fields.
    fn takes_over(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopts(entry)
    }

    /// Returns true if they pass even when nothing else is left to change: as long as the entry claims a field of the
    /// applier, the object is not in sync.
    fn adopts(&self, _entry: &ManagedFieldsEntry) -> bool {
        false
    }
}

impl Applier for str {
    fn manager(&self) -> &str {
        self
    }
}
