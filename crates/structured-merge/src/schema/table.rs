use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::object::GroupVersionKind;

/// Position of a type in its table.
pub type TypeId = u32;

/// The types of some group-versions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TypeTable {
    pub(super) types: Vec<Shape>,
    pub(super) kinds: Vec<KindInfo>,
}

/// A kind, and the properties that its API paths show.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KindInfo {
    /// The kind.
    #[serde(flatten)]
    pub gvk: GroupVersionKind,
    /// Type of the whole object.
    #[serde(rename = "type")]
    pub root: TypeId,
    /// True if its objects are in namespaces.
    pub namespaced: bool,
    /// True if it has a `/status` subresource, so that writes to the object do not change `status`.
    pub status: bool,
}

impl KindInfo {
    /// The fields that a write to the object never changes (`GetResetFields` of the strategies).
    pub fn resets(&self) -> &'static [&'static str] {
        match (self.status, self.gvk.group.as_str()) {
            (true, "certificates.k8s.io") if self.gvk.kind == "CertificateSigningRequest" => &["spec", "status"],
            (true, _) => &["status"],
            (false, _) => &[],
        }
    }
}

/// Form of a value, and the rules by which an apply merges it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shape {
    /// A scalar.
    Scalar(ScalarKind),
    /// A struct or a map.
    Map(MapShape),
    /// A list.
    List(ListKind, TypeId),
    /// Anything, replaced as a whole (`runtime.RawExtension`).
    Opaque,
    /// Anything: maps merge, lists are replaced as a whole.
    Untyped,
}

/// A struct, a map, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapShape {
    /// Declared fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Field>,
    /// Type of the entries that are not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<TypeId>,
    /// True if entries that are not declared must not be null.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rest_refuses_null: bool,
    /// True if it is replaced as a whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// True if the server stores its fields as they are sent, including empty values and nulls: it is part of a custom
    /// resource and of no Go type.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stored_as_sent: bool,
}

/// A declared field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its type.
    #[serde(rename = "type")]
    pub id: TypeId,
    /// The server's default, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The default that the server stores where the field is empty, if it is known and does not depend on other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_of_empty: Option<Value>,
    /// True if it must not be null: a field of a custom resource that is not nullable and has no default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuses_null: bool,
    /// True if a null becomes its default: a field of a custom resource that is not nullable and has a default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces_null: bool,
    /// True if a custom resource has to have it, and no default adds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// Rule by which a list merges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ListKind {
    /// Replaced as a whole.
    Atomic,
    /// Members are matched by value.
    Set,
    /// Items are matched by the values of these keys (an associative list).
    Keyed(Vec<String>),
}

/// Type of a scalar, for values whose spelling and meaning can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScalarKind {
    /// Any scalar.
    Any,
    /// A string.
    Text,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// `resource.Quantity`.
    Quantity,
    /// A number or a string; `8` and `"8"` differ.
    IntOrString,
    /// `metav1.Time`, which has no fractions of a second.
    Time,
    /// `metav1.MicroTime`, which is written with six digits of a second.
    MicroTime,
    /// Base64 text (`format: byte` of a built-in kind).
    Bytes,
}

impl TypeTable {
    /// The kinds in the table.
    pub fn kinds(&self) -> &[KindInfo] {
        &self.kinds
    }

    /// The table without the kinds of other groups and versions, for which its document is not authoritative.
    pub fn only(mut self, group: &str, version: &str) -> Self {
        self.kinds.retain(|kind| kind.gvk.group == group && kind.gvk.version == version);
        self
    }

    /// Properties of a kind.
    pub fn kind(&self, gvk: &GroupVersionKind) -> Option<&KindInfo> {
        // Most kinds share their group and version, so the name is compared first.
        self.kinds.iter().find(|info| info.gvk.kind == gvk.kind && info.gvk == *gvk)
    }

    /// Adds a type to the table.
    pub(super) fn push(&mut self, shape: Shape) -> TypeId {
        let id = TypeId::try_from(self.types.len()).unwrap_or(TypeId::MAX);
        self.types.push(shape);
        id
    }
}
