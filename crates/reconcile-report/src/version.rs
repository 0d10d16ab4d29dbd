//! The report of `version`: the program, the server, and whether they were tested together.

use reconcile_core::diagnostic::Diagnostic;
use serde::Serialize;

use crate::model::diagnostic::of_run;
use crate::model::{ClusterInfo, EXIT_SUCCESS, Failure};
use crate::words::styled::{Role, Styled};

/// The minor versions of Kubernetes 1 whose API servers the tests run against: the oldest and the newest.
pub const TESTED_SERVERS: (u32, u32) = (30, 37);

/// The report of `version`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionReport {
    api_version: &'static str,
    kind: &'static str,
    command: &'static str,
    /// The exit code.
    pub exit_code: u8,
    client: Client,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<ClusterInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skew: Option<Skew>,
    /// The errors for which the server could not be asked.
    #[serde(serialize_with = "of_run")]
    pub errors: Vec<Diagnostic>,
}

#[derive(Debug, Serialize)]
struct Client {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
    platform: String,
}

/// The relation of a server to the tested ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Support {
    /// It is one of them.
    Supported,
    /// It is older than all of them.
    Older,
    /// It is newer than all of them.
    Newer,
    /// Its version is not known, or the user may not read it.
    Unknown,
}

#[derive(Debug, Serialize)]
struct Skew {
    support: Support,
    oldest: String,
    newest: String,
}

impl VersionReport {
    /// The version of the program alone; the commit that it was built from, if the build names it.
    pub fn of_client(commit: Option<&'static str>) -> Self {
        let commit =
            commit.filter(|text| (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit()));
        let client = Client { version: env!("CARGO_PKG_VERSION"), commit, platform: platform() };
        let api_version = "kubectl-reconcile/v1";
        let kind = "VersionReport";
        let command = "version";
        let cluster = None;
        let skew = None;
        Self { api_version, kind, command, exit_code: EXIT_SUCCESS, client, cluster, skew, errors: Vec::new() }
    }

    /// Adds the version of a server, and whether it is one that is supported.
    pub fn beside(self, cluster: ClusterInfo) -> Self {
        let [oldest, newest] = [TESTED_SERVERS.0, TESTED_SERVERS.1].map(|minor| format!("1.{minor}"));
        let support = Support::of(cluster.version.as_deref());
        Self { cluster: Some(cluster), skew: Some(Skew { support, oldest, newest }), ..self }
    }

    /// Adds the errors for which the server could not be asked.
    pub fn without_server(self, Failure { verdict, diagnostics }: Failure) -> Self {
        Self { exit_code: verdict.exit_code(false), errors: diagnostics, ..self }
    }

    /// The text for people.
    pub fn text(&self) -> Styled {
        let mut text = Styled::new();
        let commit = self.client.commit.map(|commit| format!(", commit {commit}")).unwrap_or_default();
        line(&mut text, "client", &format!("{} ({}{commit})", self.client.version, self.client.platform));
        if let Some(ClusterInfo { context, server, version, uid: _ }) = &self.cluster {
            let context = context.as_ref().map(|name| format!("context `{name}`, ")).unwrap_or_default();
            let version = version.as_deref().unwrap_or("unknown");
            line(&mut text, "server", &format!("{version} ({context}{server})"));
        }
        if let Some(Skew { support, .. }) = &self.skew {
            let (role, said) = support.said();
            text.push(Role::Plain, "skew:   ");
            text.line(role, said);
        }
        text
    }
}

fn line(text: &mut Styled, name: &str, value: &str) {
    text.line(Role::Plain, format!("{:<8}{value}", format!("{name}:")));
}

impl Support {
    /// Reads a version such as `v1.36.3` or `v1.33.13+k3s1`.
    pub fn of(version: Option<&str>) -> Self {
        let minor = version.and_then(|version| {
            let mut parts = version.strip_prefix('v')?.split('.');
            let major = parts.next()?;
            let minor = parts.next()?;
            let digits = minor.split(|c: char| !c.is_ascii_digit()).next()?;
            (major == "1").then(|| digits.parse::<u32>().ok()).flatten()
        });
        match minor {
            None => Self::Unknown,
            Some(minor) if minor < TESTED_SERVERS.0 => Self::Older,
            Some(minor) if minor > TESTED_SERVERS.1 => Self::Newer,
            Some(_) => Self::Supported,
        }
    }

    fn said(self) -> (Role, String) {
        let (oldest, newest) = TESTED_SERVERS;
        let tested = format!("tested with servers 1.{oldest} to 1.{newest}");
        match self {
            Self::Supported => (Role::Plain, format!("supported ({tested})")),
            Self::Older => {
                (Role::Error, format!("not supported: the server is older than those that were tested ({tested})"))
            }
            Self::Newer => {
                (Role::Change, format!("not tested: the server is newer than those that were tested ({tested})"))
            }
            Self::Unknown => (Role::Change, format!("unknown ({tested})")),
        }
    }
}

/// The platform as Kubernetes writes it: `linux/amd64`.
fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}/{arch}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::plain;

    #[test]
    fn servers_are_supported_within_the_tested_range() {
        for (version, support) in [
            (Some("v1.30.0"), Support::Supported),
            (Some("v1.37.2+k3s1"), Support::Supported),
            (Some("v1.31+"), Support::Supported),
            (Some("v1.29.14-eks-1"), Support::Older),
            (Some("v1.38.0-alpha.1"), Support::Newer),
            (Some("v2.0.0"), Support::Unknown),
            (Some("v1.99999999999.0"), Support::Unknown),
            (Some("1.33"), Support::Unknown),
            (Some("v1"), Support::Unknown),
            (Some(""), Support::Unknown),
            (None, Support::Unknown),
        ] {
            assert_eq!(Support::of(version), support, "{version:?}");
        }
    }

    #[test]
    fn what_a_server_says_of_itself_is_shown_and_not_obeyed() {
        let cluster = ClusterInfo {
            context: Some("prod\u{1b}[2J".to_owned()),
            server: "https://prod".to_owned(),
            version: Some("v1.33.0\u{1b}[31m\nskew: supported".to_owned()),
            uid: None,
        };
        let text = plain(&VersionReport::of_client(None).beside(cluster).text());
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert_eq!(text.lines().count(), 3, "{text:?}");
    }

    /// The range is one constant, and the README states it.
    #[test]
    fn the_readme_states_the_tested_range() {
        let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
        let range = format!("1.{} to 1.{}", TESTED_SERVERS.0, TESTED_SERVERS.1);
        assert!(readme.contains(&range), "the README does not state {range}");
    }
}
