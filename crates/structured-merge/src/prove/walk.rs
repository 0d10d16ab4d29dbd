//! Whether every value of the manifest is in the live object, in this or another spelling.

use std::cell::OnceCell;

use serde_json::{Map, Value};

use super::unproven::Unproven;
use crate::claimants::Claimants;
use crate::node_ports::is_filled_from_port;
use crate::object::{FieldSet, PathElement, Quantity, Scalar};
use crate::ownership::Ownership;
use crate::path_stack::PathStack;
use crate::schema::{
    self, KindInfo, ListKind, ScalarKind, TypeRef, is_default, is_nothing_here, is_omitted_when_empty, item_element,
    semantically_equal, serializes_as,
};
use crate::string_data::encoded;

/// Compares the values of a manifest with those of the live object.
pub(super) struct Walk<'a> {
    owners: &'a Ownership,
    /// What the others claim, once that matters.
    others: OnceCell<Claimants<'a>>,
    pub(super) built_in: bool,
    /// Whether the server keeps the node ports that the manifest leaves to it.
    pub(super) keeps_node_ports: bool,
}

impl<'a> Walk<'a> {
    /// Of an object with these owners.
    pub fn new(owners: &'a Ownership, built_in: bool, keeps_node_ports: bool) -> Self {
        Self { owners, others: OnceCell::new(), built_in, keeps_node_ports }
    }

    /// The whole object. What the server resets in every write is only checked for what would make it refuse the rest.
    pub fn object(
        &self,
        wanted: &Map<String, Value>,
        live: &Value,
        of: TypeRef<'_>,
        kind: &KindInfo,
    ) -> Result<(), Unproven> {
        let root = PathStack::root();
        for (name, value) in wanted {
            let at = root.field(name);
            // The specs of these two are those of the live object after any update.
            let keeps_spec = kind.gvk.kind == "CertificateSigningRequest" || kind.gvk.is_namespace();
            let is_reset = kind.status && name == "status" || keeps_spec && name == "spec";
            match live.get(name) {
                _ if is_reset && schema::conforms(value, of.field(name)) => {}
                Some(there) if is_reset && value == there => {}
                _ if is_reset => return Err(Unproven::Ignored(at.path())),
                _ if kind.gvk.is_secret() && name == "stringData" => self.string_data(&at, value, live)?,
                Some(there) if kind.gvk.is_secret() && name == "data" => self.data(&at, wanted, value, there, of)?,
                there => self.field(&at, name, value, there, of, None)?,
            }
        }
        Ok(())
    }

    /// `stringData` lives on in `data`. The server compares it with nothing, so that it conflicts with whoever has
    /// written it, too.
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

    /// `data` of a Secret, whose entries `stringData` overrides where it has them as well: those only have to be base64.
    fn data(
        &self,
        at: &PathStack<'_>,
        manifest: &Map<String, Value>,
        wanted: &Value,
        found: &Value,
        of: TypeRef<'_>,
    ) -> Result<(), Unproven> {
        let texts = manifest.get("stringData").and_then(Value::as_object);
        let (Some(texts), Some(entries)) = (texts, wanted.as_object()) else {
            return self.field(at, "data", wanted, Some(found), of, None);
        };
        let (overridden, rest): (Map<_, _>, Map<_, _>) =
            entries.clone().into_iter().partition(|(name, _)| texts.contains_key(name));
        for (name, value) in overridden {
            let at = at.field(&name);
            if !schema::conforms(&value, of.field("data").field(&name)) {
                return Err(Unproven::Ignored(at.path()));
            }
            self.respelled(&at, None)?;
        }
        self.value(at, &Value::Object(rest), found, of.field("data"), None)
    }

    /// `whole` is the path of the value around that is replaced as a whole, when there is one.
    fn value(
        &self,
        at: &PathStack<'_>,
        wanted: &Value,
        found: &Value,
        of: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        let whole = if whole.is_none() && of.is_atomic(wanted) { Some(at) } else { whole };
        let is_empty_map = wanted.as_object().is_some_and(Map::is_empty);
        if whole.is_none() && is_empty_map && holds_entries(found) && !self.stays(at, found, of) {
            return Err(Unproven::Emptied(at.path()));
        }
        match (wanted, found) {
            // Items of lists that are replaced as a whole: fields come by another way.
            (Value::Null, Value::Null) => Ok(()),
            (Value::Null, _) => Err(Unproven::Null(at.path())),
            (Value::Object(wanted), Value::Object(found)) => self.fields(at, wanted, found, of, whole),
            (Value::Array(wanted), Value::Array(found)) if whole.is_some() => {
                if wanted.len() != found.len() {
                    return Err(Unproven::Differs(at.path()));
                }
                let mut pairs = wanted.iter().zip(found).enumerate();
                pairs.try_for_each(|(index, (a, b))| self.value(&at.index(index), a, b, of.item(), whole))
            }
            (Value::Array(wanted), Value::Array(found)) => self.items(at, wanted, found, of),
            _ => self.scalar(at, wanted, found, of, whole),
        }
    }

    fn fields(
        &self,
        at: &PathStack<'_>,
        wanted: &Map<String, Value>,
        found: &Map<String, Value>,
        of: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        for (name, value) in wanted {
            let at = at.field(name);
            if is_filled_from_port(name, value, found, of) {
                self.respelled(&at, whole)?;
            } else {
                self.field(&at, name, value, found.get(name), of, whole)?;
            }
        }
        let Some(atomic) = whole else { return Ok(()) };
        for (name, there) in found.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
            if !is_default(there, name, of) || there.is_null() && !self.built_in {
                return Err(Unproven::Extra(at.field(name).path()));
            }
            self.respelled(atomic, whole)?;
        }
        Ok(())
    }

    /// One field of a map or struct of type `of`.
    fn field(
        &self,
        at: &PathStack<'_>,
        name: &str,
        value: &Value,
        found: Option<&Value>,
        of: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        match found {
            // `kubectl create --dry-run` prints this in templates; the server drops it.
            None if name == "creationTimestamp" && value.is_null() && self.built_in => Ok(()),
            found if value.is_null() => self.null(at, name, found, of, whole),
            Some(there) => self.value(at, value, there, of.field(name), whole),
            // Left out as empty, unless the server would refuse it: there are no empty times, nor numbers for texts.
            // What is replaced as a whole was perhaps written without it: a pointer would keep it.
            None if self.built_in
                && is_omitted_when_empty(value, name, of)
                && (whole.is_none() || is_nothing_here(value, name, of))
                && schema::conforms(value, of.field(name)) =>
            {
                self.respelled(at, whole)
            }
            None => Err(Unproven::Absent(at.path())),
        }
    }

    /// Items of keyed lists and sets: all there, each key once on either side, in the same order.
    fn items(&self, at: &PathStack<'_>, wanted: &[Value], found: &[Value], of: TypeRef<'_>) -> Result<(), Unproven> {
        let differs = || Unproven::Differs(at.path());
        let keys = |items: &[Value]| items.iter().map(|item| item_element(item, of)).collect::<Option<Vec<_>>>();
        let (wanted_keys, found_keys) = (keys(wanted).ok_or_else(differs)?, keys(found).ok_or_else(differs)?);
        // Of several items with one key the server keeps some, or refuses them.
        if !all_different(&wanted_keys) || !all_different(&found_keys) {
            return Err(Unproven::ServersOwn(at.path()));
        }
        let mut ahead = found_keys.iter().zip(found);
        for (key, item) in wanted_keys.iter().zip(wanted) {
            let (_, there) = ahead.find(|(other, _)| *other == key).ok_or_else(differs)?;
            if *of.list_kind() != ListKind::Set {
                self.value(&at.item(key), item, there, of.item(), None)?;
            }
        }
        Ok(())
    }

    fn scalar(
        &self,
        at: &PathStack<'_>,
        wanted: &Value,
        found: &Value,
        of: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        if wanted == found || Scalar::from_json(wanted) == Scalar::from_json(found) {
            return Ok(());
        }
        // Resource lists round up to a thousandth, other places keep what is below: only the server knows.
        let is_fine = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            Quantity::parse(&text).is_some_and(Quantity::is_below_milli)
        };
        let too_fine = of.scalar() == ScalarKind::Quantity && (is_fine(wanted) || is_fine(found));
        let normalised = matches!(of.scalar(), ScalarKind::Quantity | ScalarKind::Time | ScalarKind::Bytes);
        let is_same = self.built_in && semantically_equal(wanted, found, of) && serializes_as(wanted, found, of);
        let is_empty = wanted.as_str().map_or_else(|| wanted.as_i64() == Some(0), str::is_empty);
        if self.built_in && is_empty && !is_same {
            // Empty means absent to many a field, which the server then fills in.
            return Err(Unproven::ServersOwn(at.path()));
        }
        if !normalised || too_fine || !is_same {
            return Err(Unproven::Differs(at.path()));
        }
        self.respelled(at, whole)
    }

    /// What others own under the names of our version, if somebody has a record in another one.
    pub(super) fn fields_beside_other_versions(&self) -> Option<FieldSet> {
        let version = &self.owners.ours.as_ref()?.api_version;
        let (same, other): (Vec<_>, Vec<_>) =
            self.owners.others.iter().partition(|entry| entry.api_version == *version);
        let fields = || same.iter().fold(FieldSet::new(), |fields, entry| fields.union(&entry.fields));
        (!other.is_empty()).then(fields)
    }

    /// A value that only means the same is compared as text by the server when somebody else owns it, too.
    pub(super) fn respelled(&self, at: &PathStack<'_>, whole: Option<&PathStack<'_>>) -> Result<(), Unproven> {
        let path = whole.unwrap_or(at).path();
        let others = self.others.get_or_init(|| Claimants::of(&self.owners.others));
        if others.is_claimed(&path) { Err(Unproven::Respelled(path)) } else { Ok(()) }
    }
}

fn all_different(keys: &[PathElement]) -> bool {
    let mut sorted: Vec<&PathElement> = keys.iter().collect();
    sorted.sort();
    sorted.windows(2).all(|pair| pair.first() != pair.last())
}

/// Returns true if there is anything in a map or list.
pub(super) fn holds_entries(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}
