//! Server-side apply, computed by the client: what sigs.k8s.io/structured-merge-diff and `metadata.managedFields` are to the API
//! server, in Rust and without a server.
//!
//! The crate answers these questions about a manifest and a live object: which fields does an apply claim? What would
//! it change, and which fields would it take from other managers? Would it change anything at all? It does no I/O:
//! OpenAPI documents and objects are passed as JSON values.
//!
//! ```
//! use serde_json::json;
//! use structured_merge::{
//!     GroupVersionKind, ManagedObject, Origin, Proof, changes, compile, field_set, predict, prove,
//! };
//!
//! // The API server serves an OpenAPI v3 document for each group and version: this is `/openapi/v3/apis/example.com/v1`.
//! let id = json!({"group": "example.com", "version": "v1", "kind": "Gateway"});
//! let document = json!({
//!     "paths": {"/apis/example.com/v1/namespaces/{namespace}/gateways/{name}": {"patch": {"x-kubernetes-group-version-kind": id}}},
//!     "components": {"schemas": {"com.example.v1.Gateway": {
//!         "type": "object",
//!         "x-kubernetes-group-version-kind": [id],
//!         "properties": {
//!             "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
//!             "spec": {"type": "object", "properties": {"listeners": {
//!                 "type": "array",
//!                 "x-kubernetes-list-type": "map",
//!                 "x-kubernetes-list-map-keys": ["name"],
//!                 "items": {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}},
//!             }}},
//!         },
//!     }}},
//! });
//! let types = compile([&document], Origin::Custom)?;
//! let gvk = GroupVersionKind::new("example.com/v1", "Gateway");
//! let (kind, schema) = (types.kind(&gvk).unwrap(), types.object(&gvk).unwrap());
//!
//! // The fields that an apply claims: items of an associative list by their keys, not by their positions.
//! let gateway = |port: u16| json!({
//!     "apiVersion": "example.com/v1", "kind": "Gateway", "metadata": {"name": "edge"},
//!     "spec": {"listeners": [{"name": "web", "port": port}]},
//! });
//! let claims = field_set(&gateway(80), schema, Some(kind)).to_fields_v1();
//! assert_eq!(claims, json!({"f:spec": {"f:listeners": {r#"k:{"name":"web"}"#: {".": {}, "f:name": {}, "f:port": {}}}}}));
//!
//! // The live object: `deployer` has applied the manifest, and `mesh` has added a listener.
//! let mut live = gateway(80);
//! live["spec"]["listeners"].as_array_mut().unwrap().insert(0, json!({"name": "admin", "port": 9000}));
//! live["metadata"]["managedFields"] = json!([{
//!     "manager": "deployer", "operation": "Apply", "apiVersion": "example.com/v1", "time": "2026-01-01T00:00:00Z",
//!     "fieldsType": "FieldsV1", "fieldsV1": claims,
//! }]);
//! let live = ManagedObject::new(live, "deployer");
//!
//! // The same manifest would change nothing.
//! assert_eq!(prove(&gateway(80), &live, schema, kind, "deployer"), Proof::Proven);
//!
//! // Another one would change one field, and leave the listener of `mesh` alone.
//! let after = predict(&gateway(8080), &live, schema, Some(kind), "deployer");
//! let changed = changes(&live.object, &after.object, schema, kind.status);
//! assert_eq!(changed.len(), 1);
//! assert_eq!(changed[0].path.to_string(), "spec.listeners[name=web].port");
//! assert_eq!(changed[0].to, Some(json!(8080)));
//!
//! // No other manager loses a field, so there is no conflict.
//! assert!(live.owners.taken(&after.owners).is_empty());
//! # Ok::<(), structured_merge::CompileError>(())
//! ```
//!
//! # Overview
//!
//! ```text
//! OpenAPI v3 ─compile─▶ TypeTable ─▶ TypeRef (steps down along a value)
//!                                      │
//! manifest ─────field_set──────────────┼─▶ FieldSet ⇄ FieldsV1
//! manifest, live ─prove────────────────┼─▶ Proof: an apply changes neither a value nor a claim
//! manifest, live ─predict (merge, prune)─▶ ManagedObject: the object and its Ownership after an apply
//! before, after ─changes───────────────┴─▶ Change, one for each field
//! ```
//!
//! * Types: [`compile`] reads OpenAPI v3 as kube-openapi's `schemaconv` does; [`builtin`] holds the types of the kinds that are
//!   compiled into the API server.
//! * Field sets: [`FieldPath`], [`FieldSet`], [`ManagedFieldsEntry`] (structured-merge-diff `fieldpath/`).
//! * Values: [`Quantity`] and [`semantically_equal`] know when two spellings mean the same (apimachinery `equality.Semantic`).
//! * Merging: [`predict`], [`merge`] and [`prune`] (structured-merge-diff `typed/merge.go`, `typed/remove.go`, `merge/update.go`).
//! * Parts of objects: [`without_fields`] and [`with_fields_of`] (structured-merge-diff `typed/remove.go`), and [`with_parts_of`] for
//!   parts of values that are replaced as a whole.
//! * Ownership: [`Ownership`] and [`Applier`], with the transfer of claims as in client-go's `csaupgrade`.
//!
//! # What a prediction cannot know
//!
//! Admission plugins, conversion webhooks and most defaults run in the server only. [`prove`] never guesses: where they
//! may matter, it returns [`Proof::Inconclusive`]. [`predict`] guesses, and is meant for comparisons without a server.

// What others wrote is read here: a wrong index or sum must not end the program.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

mod allocations;
mod changes;
mod claimants;
mod comparison;
mod kinds;
mod last_applied;
mod merge;
mod moved_items;
mod object;
mod ownership;
mod parts;
mod predict;
mod prove;
mod schema;
mod selection;
mod subset;
mod transfer;

pub use changes::{Change, Op, changes};
pub use claimants::{ClaimStrength, Claimants, claim_strength, claims_stored};
pub use kinds::{
    leave_out_bookkeeping, made_fields, owners_with_string_data, stored_at, with_equal_texts_in_data, with_node_ports,
    with_string_data, with_string_data_folded, written_at,
};
pub use last_applied::{LastApplied, fields_last_applied, owns_last_applied};
pub use merge::merge;
pub use object::{
    FieldPath, FieldSet, FieldsV1Error, GroupKind, GroupVersionKind, LAST_APPLIED, Lookup, MAX_LABEL, MAX_SUBDOMAIN,
    ManagedFieldsEntry, NotAPath, ObjectKey, ObjectMeta, Operation, PathElement, Quantity, SERVER_METADATA, Scalar,
    SharedTypes, TypeNames, is_dns_label, is_dns_subdomain, managed_fields, with_elements, without_system_fields,
};
pub use ownership::{LostFields, ManagedObject, Ownership};
pub use parts::{Unpaired, WithParts, with_parts_of};
pub use predict::{BEFORE_FIRST_APPLY, as_sent, predict, predict_displacing, unrecorded, verbatim, with_live_spelling};
pub use prove::{Proof, Unproven, prove};
pub use schema::{
    CompileError, EmptyKey, Field, KindInfo, ListKind, MapShape, NullEntry, OpenApiDocument, Origin, RefusedNull,
    ScalarKind, Shape, TypeRef, TypeTable, brought_up_to_date, builtin, builtin_kind, compile, compile_definition,
    conforms, defined_kind, field_set, fields_of, fill_in_empty_keys, is_current, is_default, is_nothing,
    is_omitted_when_empty, item_element, items_by_element, null_entries, semantically_equal, take_out_refused_nulls,
    untyped_object, written_schema,
};
pub use selection::{Selected, Selection};
pub use subset::{prune, whole_value, with_fields_of, without_fields};
pub use transfer::Applier;
