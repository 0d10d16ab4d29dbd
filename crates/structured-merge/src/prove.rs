//! Proves from the live object alone that an apply by us would change nothing, neither a value nor a record of owners.
//!
//! When a field is in our Apply entry, no other request has touched it since our last apply, as that would have taken it
//! out of the entry (structured-merge-diff `merge/update.go`). So: our entry equals the fields of the manifest, hence
//! nothing to gain and nothing to prune; and every value of the manifest is there, as admission may have changed one
//! without a record. What cannot be proven is asked of the server; nothing is guessed.

mod null;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::fmt;

use serde_json::{Map, Value};

use crate::applier::Applier;
use crate::claimants::Claimants;
use crate::node_ports::{is_filled_from_port, keeps_node_ports};
use crate::object::{
    FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, ManagedFieldsEntry, Operation, PathElement, Quantity, Scalar,
};
use crate::ownership::Ownership;
use crate::path_stack::PathStack;
use crate::schema::{
    self, KindInfo, ListKind, ScalarKind, TypeRef, is_default, is_nothing_here, is_omitted_when_empty, item_element,
    semantically_equal, serializes_as,
};
use crate::string_data::encoded;

/// Whether the live object is what an apply would leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It is, for certain.
    Proven,
    /// The server has to be asked, for this reason.
    Inconclusive(Unproven),
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// We never applied it, or under another name.
    NoEntry,
    /// We applied it in another version of its API.
    OtherVersion(String),
    /// The manifest's fields are not those that are recorded as ours; one of them is named.
    OtherFields(FieldPath),
    /// A value differs.
    Differs(FieldPath),
    /// A null, which means something else in every place.
    Null(FieldPath),
    /// Not in the live object, and it cannot be told whether the server left it out as empty.
    Absent(FieldPath),
    /// A field in a value that is replaced as a whole, which only the live object has.
    Extra(FieldPath),
    /// Written differently from the live value, and co-owned: the server would see a conflict.
    Respelled(FieldPath),
    /// The server ignores it, but would refuse it if it were not valid, which cannot be told here.
    Ignored(FieldPath),
    /// It differs where the server is known to keep or complete the value itself.
    ServersOwn(FieldPath),
    /// Another owner's claims are to pass to us.
    Adopting,
    /// The record of this owner is of another age of the API: the next apply rewrites it.
    OldRecord(String),
    /// The record of this owner cannot be read.
    Unreadable(String),
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry => f.write_str("it was not applied under this field manager"),
            Self::OtherVersion(version) => write!(f, "it was applied as `{version}`"),
            Self::OtherFields(path) => write!(f, "`{path}` is owned or in the manifest, not both"),
            Self::Differs(path) => write!(f, "`{path}` differs"),
            Self::Null(path) => write!(f, "`{path}` is null"),
            Self::Absent(path) => write!(f, "`{path}` is not in the live object"),
            Self::Extra(path) => write!(f, "`{path}` is only in the live object"),
            Self::Respelled(path) => write!(f, "`{path}` is written differently and also has another owner"),
            Self::Ignored(path) => write!(f, "`{path}` is left to the server, which may not accept it"),
            Self::ServersOwn(path) => write!(f, "`{path}` differs, and the server may change it"),
            Self::Adopting => f.write_str("a manager to adopt owns fields of it"),
            Self::OldRecord(manager) => write!(f, "the fields of `{manager}` are recorded in an old form"),
            Self::Unreadable(manager) => write!(f, "the fields of `{manager}` cannot be read"),
        }
    }
}

/// Tries to prove that applying `manifest` changes nothing. `kind` is what the server says of the kind;
/// whether it is built in decides if empty values may be missing from the live object.
#[must_use]
pub fn prove(
    manifest: &Value,
    live: &Value,
    of: TypeRef<'_>,
    kind: &KindInfo,
    applier: &(impl Applier + ?Sized),
) -> Proof {
    match check(manifest, live, of, kind, applier) {
        Ok(()) => Proof::Proven,
        Err(Unproven::Differs(path)) if is_servers_own(&path, kind) => Proof::Inconclusive(Unproven::ServersOwn(path)),
        Err(unproven) => Proof::Inconclusive(unproven),
    }
}

/// Returns true if the server keeps or completes a value whatever an apply says: tolerations that admission adds to every pod
/// (`DefaultTolerationSeconds`), and the address of a service.
fn is_servers_own(path: &FieldPath, kind: &KindInfo) -> bool {
    const KEPT: [(&str, [&str; 2]); 2] = [("Pod", ["spec", "tolerations"]), ("Service", ["spec", "clusterIP"])];
    let is_kept = |(of, at): &(&str, [&str; 2])| kind.gvk.kind == *of && FieldPath::of(at).is_prefix_of(path);
    kind.gvk.group.is_empty() && KEPT.iter().any(is_kept)
}

/// Checks one condition of the proof after the other; the first that does not hold is the error.
fn check(
    manifest: &Value,
    live: &Value,
    of: TypeRef<'_>,
    kind: &KindInfo,
    applier: &(impl Applier + ?Sized),
) -> Result<(), Unproven> {
    let owners = Ownership::of(live, applier.manager());
    if let Some(manager) = owners.unreadable.first() {
        return Err(Unproven::Unreadable(manager.clone()));
    }
    let claims = schema::field_set(manifest, of, Some(kind));
    match owners.ours.as_slice() {
        [entry] if manifest.get("apiVersion").and_then(Value::as_str) != Some(&entry.api_version) => {
            return Err(Unproven::OtherVersion(entry.api_version.clone()));
        }
        [entry] if claims == entry.fields => {}
        [entry] => {
            let odd = claims.difference(&entry.fields).union(&entry.fields.difference(&claims));
            return Err(Unproven::OtherFields(odd.first().unwrap_or_default()));
        }
        // A manifest that claims nothing, such as a Namespace with only a name, leaves no entry. (An apply would still
        // write where there is no record at all: the server then invents one for those who came before.)
        [] if claims.is_empty() && !drops_any(&owners, manifest, live, of, applier) => {}
        _ => return Err(Unproven::NoEntry),
    }
    if owners.is_adopting(&claims, applier) {
        return Err(Unproven::Adopting);
    }
    for entry in &owners.others {
        if !is_kept(entry, manifest, of, kind) {
            return Err(Unproven::OldRecord(entry.manager.clone()));
        }
    }
    let Value::Object(fields) = manifest else { return Err(Unproven::Absent(FieldPath::root())) };
    let built_in = schema::builtin_kind(&kind.gvk).is_some();
    let keeps_node_ports = keeps_node_ports(manifest, live, &kind.gvk);
    Walk { owners: &owners, others: OnceCell::new(), built_in, keeps_node_ports }.object(fields, live, of, kind)
}

/// Returns true if a manifest that claims nothing has dropped what client-side apply had applied before.
fn drops_any(
    owners: &Ownership,
    manifest: &Value,
    live: &Value,
    of: TypeRef<'_>,
    applier: &(impl Applier + ?Sized),
) -> bool {
    let api_version = manifest.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    let settled = owners.with_claims_transferred(live, of, &FieldSet::new(), api_version, applier);
    settled.is_some_and(|settled| !settled.our_fields().filter(|path| *path != copy).is_empty())
}

/// Returns true if an apply, whoever sends it, leaves the record of an owner as it is.
fn is_kept(entry: &ManagedFieldsEntry, manifest: &Value, of: TypeRef<'_>, kind: &KindInfo) -> bool {
    // What `scale` leaves where there was no record at all.
    if entry.operation == Operation::Update && entry.time.is_none() {
        return false;
    }
    if manifest.get("apiVersion").and_then(Value::as_str) == Some(&entry.api_version) {
        return schema::is_current(&entry.fields, of);
    }
    // Records in versions that the server doesn't know any more are dropped.
    let theirs = GroupVersionKind::new(&entry.api_version, &kind.gvk.kind);
    schema::builtin().object(&theirs).is_some_and(|of| schema::is_current(&entry.fields, of))
}

struct Walk<'a> {
    owners: &'a Ownership,
    /// What the others claim, once that matters.
    others: OnceCell<Claimants<'a>>,
    built_in: bool,
    /// Whether the server keeps the node ports that the manifest leaves to it.
    keeps_node_ports: bool,
}

impl Walk<'_> {
    /// The whole object. What the server resets in every write is only checked for what would make it refuse the rest.
    fn object(
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

    /// A value that only means the same is compared as text by the server when somebody else owns it, too.
    fn respelled(&self, at: &PathStack<'_>, whole: Option<&PathStack<'_>>) -> Result<(), Unproven> {
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
