//! Checks that every value of the manifest is in the live object, in this or another spelling.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::{Map, Value};

use crate::claimants::Claimants;
use crate::kinds::{encoded, is_filled_from_port, with_limits_filled};
use crate::object::{FieldPath, FieldSet, PathStack, Quantity, Scalar};
use crate::ownership::Ownership;
use crate::schema::{
    self, KindInfo, ListKind, ScalarKind, TypeRef, all_different, is_default, is_nothing_here, is_omitted_when_empty,
    item_element, semantically_equal, serializes_as,
};

/// Compares the values of a manifest with those of the live object.
pub(super) struct Walk<'a> {
    owners: &'a Ownership,
    /// The claims of others, computed when they are first needed.
    others: OnceCell<Claimants<'a>>,
    pub(super) built_in: bool,
    /// True if the server keeps the node ports that the manifest leaves to it.
    pub(super) keeps_node_ports: bool,
}

impl<'a> Walk<'a> {
    /// Creates the walk for an object with these owners.
    pub fn new(owners: &'a Ownership, built_in: bool, keeps_node_ports: bool) -> Self {
        Self { owners, others: OnceCell::new(), built_in, keeps_node_ports }
    }

    /// Checks the whole object. A status that the server drops only has to be valid, so that it does not reject the rest.
    pub fn object(
        &self,
        wanted: &Map<String, Value>,
        live: &Value,
        schema: TypeRef<'_>,
        kind: &KindInfo,
    ) -> Result<(), Unproven> {
        let root = PathStack::root();
        for (name, value) in wanted {
            let at = root.field(name);
            let is_reset = kind.status && name == "status";
            match live.get(name) {
                _ if is_reset && schema::conforms(value, schema.field(name)) => {}
                Some(there) if is_reset && value == there => {}
                _ if is_reset => return Err(Unproven::Ignored(at.path())),
                _ if kind.gvk.is_secret() && name == "stringData" => self.string_data(&at, value, live)?,
                Some(there) if kind.gvk.is_secret() && name == "data" => {
                    self.data(&at, wanted, value, there, schema)?;
                }
                there => self.field(&at, name, value, there, schema, None)?,
            }
        }
        Ok(())
    }

    /// Checks `stringData`, which the server stores in `data`. The server compares it with no value, so that it
    /// conflicts with every co-owner.
    fn string_data(&self, at: &PathStack<'_>, wanted: &Value, live: &Value) -> Result<(), Unproven> {
        let nothing = Map::new();
        let texts = match wanted {
            Value::Object(texts) => texts,
            Value::Null => &nothing,
            _ => return Err(Unproven::Differs(at.path())),
        };
        for (name, text) in texts {
            let found = live.get("data").and_then(|data| data.get(name)).and_then(Value::as_str);
            match text {
                Value::String(text) if found == Some(&encoded(text)) => {}
                Value::Null => return Err(Unproven::Null(at.field(name).path())),
                _ => return Err(Unproven::Differs(at.field(name).path())),
            }
        }
        self.respelled(at, None)
    }

    /// Checks `data` of a Secret. Entries that `stringData` overrides only have to be base64.
    fn data(
        &self,
        at: &PathStack<'_>,
        manifest: &Map<String, Value>,
        wanted: &Value,
        found: &Value,
        schema: TypeRef<'_>,
    ) -> Result<(), Unproven> {
        let texts = manifest.get("stringData").and_then(Value::as_object);
        let (Some(texts), Some(entries)) = (texts, wanted.as_object()) else {
            return self.field(at, "data", wanted, Some(found), schema, None);
        };
        let (overridden, rest): (Map<_, _>, Map<_, _>) =
            entries.clone().into_iter().partition(|(name, _)| texts.contains_key(name));
        for (name, value) in overridden {
            let at = at.field(&name);
            if !schema::conforms(&value, schema.field("data").field(&name)) {
                return Err(Unproven::Ignored(at.path()));
            }
            self.respelled(&at, None)?;
        }
        self.value(at, &Value::Object(rest), found, schema.field("data"), None)
    }

    /// Checks a value. `whole` is the path of the value around it that is replaced as a whole, if there is one.
    fn value(
        &self,
        at: &PathStack<'_>,
        wanted: &Value,
        found: &Value,
        schema: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        let whole = if whole.is_none() && schema.is_atomic(wanted) { Some(at) } else { whole };
        let is_empty_map = wanted.as_object().is_some_and(Map::is_empty);
        if whole.is_none() && is_empty_map && holds_entries(found) && !self.stays(at, found, schema) {
            return Err(Unproven::Emptied(at.path()));
        }
        match (wanted, found) {
            // An item of a list that is replaced as a whole; fields go through `null`.
            (Value::Null, Value::Null) => Ok(()),
            (Value::Null, _) => Err(Unproven::Null(at.path())),
            (Value::Object(wanted), Value::Object(found)) => self.fields(at, wanted, found, schema, whole),
            (Value::Array(_), Value::Array(found)) if whole.is_some() => {
                let filled = with_limits_filled(wanted, schema);
                if matches!(filled, Cow::Owned(_)) {
                    self.respelled(at, whole)?;
                }
                let wanted = filled.as_array().map_or(&[][..], Vec::as_slice);
                if wanted.len() != found.len() {
                    return Err(Unproven::Differs(at.path()));
                }
                let mut pairs = wanted.iter().zip(found).enumerate();
                pairs.try_for_each(|(index, (a, b))| self.value(&at.index(index), a, b, schema.item(), whole))
            }
            (Value::Array(wanted), Value::Array(found)) => self.items(at, wanted, found, schema),
            _ => self.scalar(at, wanted, found, schema, whole),
        }
    }

    fn fields(
        &self,
        at: &PathStack<'_>,
        wanted: &Map<String, Value>,
        found: &Map<String, Value>,
        schema: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        for (name, value) in wanted {
            let at = at.field(name);
            if is_filled_from_port(name, value, found, schema) {
                self.respelled(&at, whole)?;
            } else {
                self.field(&at, name, value, found.get(name), schema, whole)?;
            }
        }
        let Some(atomic) = whole else { return Ok(()) };
        for (name, there) in found.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
            if !is_default(there, name, schema) || there.is_null() && !self.built_in {
                return Err(Unproven::Extra(at.field(name).path()));
            }
            self.respelled(atomic, whole)?;
        }
        Ok(())
    }

    /// Checks one field of a map or struct.
    fn field(
        &self,
        at: &PathStack<'_>,
        name: &str,
        value: &Value,
        found: Option<&Value>,
        schema: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        match found {
            // `kubectl create --dry-run` prints this in templates, and the server drops it.
            None if name == "creationTimestamp" && value.is_null() && self.built_in => Ok(()),
            found if value.is_null() => self.null(at, name, found, schema, whole),
            Some(there) => self.value(at, value, there, schema.field(name), whole),
            // The server left it out as empty, unless it would reject the value: there are no empty times, nor numbers
            // for strings. A value that is replaced as a whole may have been written without it: a pointer would keep
            // it.
            None if self.built_in
                && is_omitted_when_empty(value, name, schema)
                && (whole.is_none() || is_nothing_here(value, name, schema))
                && schema::conforms(value, schema.field(name)) =>
            {
                self.respelled(at, whole)
            }
            None => Err(Unproven::Absent(at.path())),
        }
    }

    /// Checks the items of a keyed list or set: all are there, each key once on either side, in the same order.
    fn items(
        &self,
        at: &PathStack<'_>,
        wanted: &[Value],
        found: &[Value],
        schema: TypeRef<'_>,
    ) -> Result<(), Unproven> {
        let differs = || Unproven::Differs(at.path());
        let keys = |items: &[Value]| items.iter().map(|item| item_element(item, schema)).collect::<Option<Vec<_>>>();
        let wanted_keys = keys(wanted).ok_or_else(differs)?;
        let found_keys = keys(found).ok_or_else(differs)?;
        // If several items have one key, the server keeps some of them, or rejects them.
        if !all_different(&wanted_keys) || !all_different(&found_keys) {
            return Err(Unproven::ServersOwn(at.path()));
        }
        let mut ahead = found_keys.iter().zip(found);
        for (key, item) in wanted_keys.iter().zip(wanted) {
            let (_, there) = ahead.find(|(other, _)| *other == key).ok_or_else(differs)?;
            if *schema.list_kind() != ListKind::Set {
                self.value(&at.item(key), item, there, schema.item(), None)?;
            }
        }
        Ok(())
    }

    fn scalar(
        &self,
        at: &PathStack<'_>,
        wanted: &Value,
        found: &Value,
        schema: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        if wanted == found || Scalar::from_json(wanted) == Scalar::from_json(found) {
            return Ok(());
        }
        // Resource lists round up to a thousandth, other fields keep smaller parts: only the server knows.
        let is_fine = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            Quantity::parse(&text).is_some_and(Quantity::is_below_milli)
        };
        let too_fine = schema.scalar() == ScalarKind::Quantity && (is_fine(wanted) || is_fine(found));
        let normalised = matches!(
            schema.scalar(),
            ScalarKind::Quantity | ScalarKind::Time | ScalarKind::MicroTime | ScalarKind::Bytes
        );
        let is_same =
            self.built_in && semantically_equal(wanted, found, schema) && serializes_as(wanted, found, schema);
        let is_empty = wanted.as_str().map_or_else(|| wanted.as_i64() == Some(0), str::is_empty);
        if self.built_in && is_empty && !is_same {
            // For many fields, empty means absent, and the server fills them in.
            return Err(Unproven::ServersOwn(at.path()));
        }
        if !normalised || too_fine || !is_same {
            return Err(Unproven::Differs(at.path()));
        }
        self.respelled(at, whole)
    }

    /// The fields that others own in our API version, if a manager has an entry in another version.
    pub(super) fn fields_beside_other_versions(&self) -> Option<FieldSet> {
        let version = &self.owners.ours.as_ref()?.api_version;
        let (same, other): (Vec<_>, Vec<_>) =
            self.owners.others.iter().partition(|entry| entry.api_version == *version);
        let fields = || same.iter().fold(FieldSet::new(), |fields, entry| fields.union(&entry.fields));
        (!other.is_empty()).then(fields)
    }

    /// Accepts a value with another spelling of the same meaning, unless it is co-owned: then the server compares the
    /// text.
    pub(super) fn respelled(&self, at: &PathStack<'_>, whole: Option<&PathStack<'_>>) -> Result<(), Unproven> {
        let path = whole.unwrap_or(at).path();
        let others = self.others.get_or_init(|| Claimants::of(&self.owners.others));
        if others.is_claimed(&path) { Err(Unproven::Respelled(path)) } else { Ok(()) }
    }
}

/// Returns true if a map or list has entries.
pub(super) fn holds_entries(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// Reason for which there is no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// We have no Apply entry: we never applied the object, or under another name.
    #[error("it was not applied under this field manager")]
    NoEntry,
    /// We applied the object in another version of its API.
    #[error("it was applied as `{0}`")]
    OtherVersion(String),
    /// The fields of the manifest are not those of our entry; one of them is named.
    #[error("`{0}` is either owned or in the manifest, but not both")]
    OtherFields(FieldPath),
    /// A value differs.
    #[error("`{0}` differs")]
    Differs(FieldPath),
    /// A null, whose meaning depends on the field.
    #[error("`{0}` is null")]
    Null(FieldPath),
    /// An empty map or list whose live entries nobody owns, so that an apply may remove them.
    #[error("`{0}` is empty in the manifest, but not in the live object")]
    Emptied(FieldPath),
    /// Not in the live object, and it is unknown whether the server left it out as empty.
    #[error("`{0}` is not in the live object")]
    Absent(FieldPath),
    /// A field in a value that is replaced as a whole, which only the live object has.
    #[error("`{0}` is only in the live object")]
    Extra(FieldPath),
    /// Written differently from the live value, and co-owned: the server would report a conflict.
    #[error("`{0}` is written differently and also has another owner")]
    Respelled(FieldPath),
    /// The server ignores the value, but would reject it if it were invalid, which is unknown here.
    #[error("`{0}` is left to the server, which may not accept it")]
    Ignored(FieldPath),
    /// The value differs, but the server is known to keep or complete it itself.
    #[error("`{0}` differs, and the server may change it")]
    ServersOwn(FieldPath),
    /// Claims of another owner have to pass to us.
    #[error("a manager in `--adopt` owns some of its fields")]
    Adopting,
    /// The entry of this owner is in an outdated form: the next apply rewrites it.
    #[error("the fields of `{0}` are recorded in an old form")]
    OldRecord(String),
    /// The entry of this owner cannot be read.
    #[error("the fields of `{0}` cannot be read")]
    Unreadable(String),
}

impl Unproven {
    /// The field that it is about, if it is about one.
    pub fn path_mut(&mut self) -> Option<&mut FieldPath> {
        match self {
            Self::OtherFields(path)
            | Self::Differs(path)
            | Self::Null(path)
            | Self::Emptied(path)
            | Self::Absent(path)
            | Self::Extra(path)
            | Self::Respelled(path)
            | Self::Ignored(path)
            | Self::ServersOwn(path) => Some(path),
            Self::NoEntry | Self::OtherVersion(_) | Self::Adopting | Self::OldRecord(_) | Self::Unreadable(_) => None,
        }
    }
}
