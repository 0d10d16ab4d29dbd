use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A user who wrote something: a person or a program, as the audit log names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct User {
    /// The name; with impersonation, that of the impersonated user.
    pub name: String,
    /// The first ten groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The first ten addresses: that of the client, and those of proxies.
    #[serde(default, rename = "sourceIPs", skip_serializing_if = "Vec::is_empty")]
    pub source_ips: Vec<String>,
    /// The program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    /// The id of the event in the log.
    #[serde(rename = "auditID")]
    pub audit_id: String,
    /// The time at which the server received the request (RFC 3339).
    pub time: String,
    /// The name of the user who impersonated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impersonated_by: Option<String>,
    /// The verb of the request, which is `create` for an eviction; in `removedBy` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<String>,
}

impl User {
    /// The same with nothing but the names.
    pub fn named(&self) -> Self {
        Self { name: self.name.clone(), impersonated_by: self.impersonated_by.clone(), ..Self::default() }
    }
}
