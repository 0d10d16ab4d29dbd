//! The content of a kubeconfig file (`client-go/tools/clientcmd/api/v1/types.go`).
//!
//! The fields are read by hand: an unused entry may be as incomplete as kubectl allows, and an error names the field and never shows
//! its value, which may be a token.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reconcile_core::manifest::kind_of;
use secrecy::{SecretSlice, SecretString};
use serde_json::Value;

/// The name of the cluster extension that is passed to credential plugins.
const EXEC_EXTENSION: &str = "client.authentication.k8s.io/exec";

/// One file, or several merged into one. Empty strings count as unset, as in kubectl.
#[derive(Debug, Default)]
pub struct KubeconfigFile {
    pub current_context: Option<String>,
    pub contexts: BTreeMap<String, ContextEntry>,
    pub clusters: BTreeMap<String, ClusterEntry>,
    pub users: BTreeMap<String, UserEntry>,
}

/// `contexts[].context`.
#[derive(Clone, Debug, Default)]
pub struct ContextEntry {
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub namespace: Option<String>,
}

/// `clusters[].cluster`.
#[derive(Clone, Debug, Default)]
pub struct ClusterEntry {
    pub server: Option<String>,
    pub certificate_authority: Option<PathBuf>,
    pub certificate_authority_data: Option<Vec<u8>>,
    pub insecure_skip_tls_verify: bool,
    pub tls_server_name: Option<String>,
    pub proxy_url: Option<String>,
    pub disable_compression: bool,
    /// The configuration of the cluster for credential plugins.
    pub exec_config: Option<Value>,
}

/// `users[].user`.
#[derive(Clone, Debug, Default)]
pub struct UserEntry {
    pub token: Option<SecretString>,
    pub token_file: Option<PathBuf>,
    pub client_certificate: Option<PathBuf>,
    pub client_certificate_data: Option<Vec<u8>>,
    pub client_key: Option<PathBuf>,
    pub client_key_data: Option<SecretSlice<u8>>,
    pub impersonate: Option<String>,
    pub impersonate_uid: Option<String>,
    pub impersonate_groups: Vec<String>,
    pub impersonate_user_extra: BTreeMap<String, Vec<String>>,
    /// True if a user name or a password is given.
    pub basic: bool,
    /// The name of the legacy `auth-provider`.
    pub auth_provider: Option<String>,
    pub exec: Option<ExecEntry>,
}

/// `users[].user.exec`.
#[derive(Clone, Debug, Default)]
pub struct ExecEntry {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, SecretString)>,
    pub api_version: String,
    pub install_hint: Option<String>,
    pub interactive_mode: Option<String>,
    pub provide_cluster_info: bool,
}

impl KubeconfigFile {
    /// Reads the document of a file. The error names the field with a wrong value.
    pub fn read(value: &Value) -> Result<Self, String> {
        let root = Field::root(value);
        root.object()?;
        for (name, expected) in [("kind", "Config"), ("apiVersion", "v1")] {
            let field = root.get(name)?;
            if field.string()?.is_some_and(|found| found != expected) {
                return Err(field.error(&format!("is not `{expected}`")));
            }
        }
        Ok(Self {
            current_context: root.get("current-context")?.string()?,
            contexts: root.get("contexts")?.named("context", ContextEntry::read)?,
            clusters: root.get("clusters")?.named("cluster", ClusterEntry::read)?,
            users: root.get("users")?.named("user", UserEntry::read)?,
        })
    }
}

impl ContextEntry {
    fn read(field: &Field) -> Result<Self, String> {
        Ok(Self {
            cluster: field.get("cluster")?.string()?,
            user: field.get("user")?.string()?,
            namespace: field.get("namespace")?.string()?,
        })
    }
}

impl ClusterEntry {
    fn read(field: &Field) -> Result<Self, String> {
        let mut exec_config = None;
        for extension in field.get("extensions")?.items()? {
            if extension.get("name")?.string()?.as_deref() == Some(EXEC_EXTENSION) {
                exec_config = Some(extension.get("extension")?.value.clone());
            }
        }
        Ok(Self {
            server: field.get("server")?.string()?,
            certificate_authority: field.get("certificate-authority")?.path()?,
            certificate_authority_data: field.get("certificate-authority-data")?.data()?,
            insecure_skip_tls_verify: field.get("insecure-skip-tls-verify")?.boolean()?,
            tls_server_name: field.get("tls-server-name")?.string()?,
            proxy_url: field.get("proxy-url")?.string()?,
            disable_compression: field.get("disable-compression")?.boolean()?,
            exec_config,
        })
    }
}

impl UserEntry {
    fn read(field: &Field) -> Result<Self, String> {
        let auth_provider = field.get("auth-provider")?;
        let exec = field.get("exec")?;
        let mut impersonate_user_extra = BTreeMap::new();
        for (key, values) in field.get("as-user-extra")?.entries()? {
            impersonate_user_extra.insert(key, values.strings()?);
        }
        Ok(Self {
            token: field.get("token")?.string()?.map(SecretString::from),
            token_file: field.get("tokenFile")?.path()?,
            client_certificate: field.get("client-certificate")?.path()?,
            client_certificate_data: field.get("client-certificate-data")?.data()?,
            client_key: field.get("client-key")?.path()?,
            client_key_data: field.get("client-key-data")?.data()?.map(SecretSlice::from),
            impersonate: field.get("as")?.string()?,
            impersonate_uid: field.get("as-uid")?.string()?,
            impersonate_groups: field.get("as-groups")?.strings()?,
            impersonate_user_extra,
            basic: field.get("username")?.string()?.is_some() || field.get("password")?.string()?.is_some(),
            auth_provider: if auth_provider.value.is_null() {
                None
            } else {
                Some(auth_provider.get("name")?.string()?.unwrap_or_default())
            },
            exec: if exec.value.is_null() { None } else { Some(ExecEntry::read(&exec)?) },
        })
    }
}

impl ExecEntry {
    fn read(field: &Field) -> Result<Self, String> {
        let mut env = Vec::new();
        for variable in field.get("env")?.items()? {
            let value = variable.get("value")?.string()?.unwrap_or_default();
            env.push((variable.get("name")?.string()?.unwrap_or_default(), SecretString::from(value)));
        }
        Ok(Self {
            command: field.get("command")?.string()?.unwrap_or_default(),
            args: field.get("args")?.strings()?,
            env,
            api_version: field.get("apiVersion")?.string()?.unwrap_or_default(),
            install_hint: field.get("installHint")?.string()?,
            interactive_mode: field.get("interactiveMode")?.string()?,
            provide_cluster_info: field.get("provideClusterInfo")?.boolean()?,
        })
    }
}

/// A value and its path.
pub(super) struct Field<'a> {
    pub value: &'a Value,
    path: String,
}

impl<'a> Field<'a> {
    /// A whole document.
    pub fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    /// The error for a wrong value, which is not shown.
    pub fn error(&self, message: &str) -> String {
        if self.path.is_empty() { message.to_owned() } else { format!("`{}` {message}", self.path) }
    }

    fn expected(&self, what: &str) -> String {
        let start = if self.path.is_empty() { "it must be" } else { "must be" };
        self.error(&format!("{start} {what}, and is {}", kind_of(self.value)))
    }

    /// The field `name` of this map, null when it is missing.
    pub fn get(&self, name: &str) -> Result<Self, String> {
        let value = self.object()?.and_then(|map| map.get(name)).unwrap_or(&Value::Null);
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Ok(Self { value, path })
    }

    fn object(&self) -> Result<Option<&'a serde_json::Map<String, Value>>, String> {
        match self.value {
            Value::Null => Ok(None),
            Value::Object(map) => Ok(Some(map)),
            _ => Err(self.expected("a map")),
        }
    }

    /// The keys of this map, none when it is missing.
    pub fn keys(&self) -> Result<impl Iterator<Item = &'a str> + use<'a>, String> {
        Ok(self.object()?.into_iter().flat_map(|map| map.keys().map(String::as_str)))
    }

    fn entries(&self) -> Result<Vec<(String, Self)>, String> {
        let entries = self.object()?.into_iter().flatten();
        Ok(entries.map(|(key, value)| (key.clone(), Self { value, path: format!("{}.{key}", self.path) })).collect())
    }

    pub fn items(&self) -> Result<Vec<Self>, String> {
        match self.value {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Ok(items.map(|(index, value)| Self { value, path: format!("{}[{index}]", self.path) }).collect())
            }
            _ => Err(self.expected("a list")),
        }
    }

    /// A list of `{name: …, <key>: {…}}`.
    fn named<T>(&self, key: &str, read: impl Fn(&Field) -> Result<T, String>) -> Result<BTreeMap<String, T>, String> {
        let mut entries = BTreeMap::new();
        for item in self.items()? {
            let name = item.get("name")?.string()?.unwrap_or_default();
            let entry = read(&item.get(key)?)?;
            if entries.insert(name, entry).is_some() {
                return Err(item.error("has a name that another entry has too"));
            }
        }
        Ok(entries)
    }

    pub fn string(&self) -> Result<Option<String>, String> {
        match self.value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            _ => Err(self.expected("a string")),
        }
    }

    pub fn strings(&self) -> Result<Vec<String>, String> {
        self.items()?.iter().map(|item| Ok(item.string()?.unwrap_or_default())).collect()
    }

    fn path(&self) -> Result<Option<PathBuf>, String> {
        Ok(self.string()?.map(PathBuf::from))
    }

    fn boolean(&self) -> Result<bool, String> {
        match self.value {
            Value::Null => Ok(false),
            Value::Bool(value) => Ok(*value),
            _ => Err(self.expected("true or false")),
        }
    }

    /// Decodes base64, and ignores line breaks in it.
    fn data(&self) -> Result<Option<Vec<u8>>, String> {
        let Some(text) = self.string()? else { return Ok(None) };
        let text: String = text.chars().filter(|character| !matches!(character, '\r' | '\n')).collect();
        BASE64_STANDARD.decode(text).map(Some).map_err(|_| self.error("is not base64"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(value: &Value) -> String {
        KubeconfigFile::read(value).unwrap_err()
    }

    #[test]
    fn a_complaint_names_the_field_and_never_shows_the_value() {
        let secret = "hunter2";
        for (value, expected) in [
            (json!([secret]), "it must be a map, and is a list"),
            (json!({"kind": secret}), "`kind` is not `Config`"),
            (json!({"apiVersion": secret}), "`apiVersion` is not `v1`"),
            (json!({"users": secret}), "`users` must be a list, and is a string"),
            (json!({"users": [{"name": "a", "user": secret}]}), "`users[0].user` must be a map, and is a string"),
            (
                json!({"users": [{"user": {"token": 123_456}}]}),
                "`users[0].user.token` must be a string, and is a number",
            ),
            (
                json!({"users": [{"user": {"client-key-data": secret}}]}),
                "`users[0].user.client-key-data` is not base64",
            ),
            (
                json!({"clusters": [{"name": "a"}, {"name": "a"}]}),
                "`clusters[1]` has a name that another entry has too",
            ),
            (
                json!({"clusters": [{"cluster": {"insecure-skip-tls-verify": secret}}]}),
                "`clusters[0].cluster.insecure-skip-tls-verify` must be true or false, and is a string",
            ),
        ] {
            assert_eq!(error(&value), expected);
        }
    }

    #[test]
    fn incomplete_and_unknown_entries_are_no_error() {
        let document = KubeconfigFile::read(&json!({
            "preferences": {"colors": true}, "unknown": 1, "contexts": null, "current-context": "",
            "clusters": [{"name": "c"}, {"cluster": {"server": "https://x", "odd": []}}],
            "users": [{"name": "u", "user": {"exec": {"interactiveMode": "Sometimes"}}}],
        }))
        .unwrap();
        assert_eq!(document.current_context, None);
        assert_eq!(document.clusters[""].server.as_deref(), Some("https://x"));
        assert!(document.clusters["c"].server.is_none());
        assert!(KubeconfigFile::read(&Value::Null).unwrap().contexts.is_empty());
    }

    #[test]
    fn base64_may_be_folded_over_lines() {
        let value = json!({"clusters": [{"name": "c", "cluster": {"certificate-authority-data": "aGVs\nbG8=\n"}}]});
        let document = KubeconfigFile::read(&value).unwrap();
        assert_eq!(document.clusters["c"].certificate_authority_data.as_deref(), Some(&b"hello"[..]));
    }

    #[test]
    fn debug_output_shows_no_secret() {
        let value = json!({"users": [{"name": "u", "user": {"token": "hunter2", "client-key-data": "aHVudGVyMg==",
            "password": "hunter2", "exec": {"env": [{"name": "A", "value": "hunter2"}]}}}]});
        let shown = format!("{:?}", KubeconfigFile::read(&value).unwrap());
        assert!(!shown.contains("hunter2") && !shown.contains("104, 117"), "{shown}");
    }
}
