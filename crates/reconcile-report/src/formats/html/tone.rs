use crate::Role;

/// The class of the style sheet for a role.
pub(super) fn tone(role: Role) -> &'static str {
    match role {
        Role::Add | Role::AddWord => "add",
        Role::Change => "change",
        Role::Remove | Role::RemoveWord => "remove",
        Role::Error => "diagnostic",
        Role::Hint => "hint",
        Role::Name => "name",
        Role::Note => "note",
        Role::Plain => "plain",
    }
}
