//! The content of a record: a revision as Helm stores and packs it.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

use reconcile_core::exact;
use reconcile_core::manifest::{ApplyMethod, ReleaseInfo};
use reconcile_core::text::one_line;

/// Largest record that is read, in bytes, once it is unpacked.
const LARGEST: u64 = 32 << 20;
/// The type of the Secrets of releases.
const TYPE: &str = "helm.sh/release.v1";
/// Longest status in a message or a report, in characters.
pub(super) const STATUS: usize = 40;
/// Longest name and version of a chart in a report, in characters.
const CHART: usize = 100;
/// Longest time in a report, in bytes.
const TIME: usize = 40;

/// The parts of a record that are read. The values of the chart are skipped.
#[derive(Debug, Deserialize)]
pub(super) struct Stored {
    pub name: String,
    pub version: u32,
    pub manifest: String,
    info: Option<StoredInfo>,
    chart: Option<StoredChart>,
    apply_method: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StoredInfo {
    status: Option<String>,
    last_deployed: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StoredChart {
    metadata: Option<StoredMetadata>,
}

#[derive(Debug, Deserialize)]
struct StoredMetadata {
    name: Option<String>,
    version: Option<String>,
}

impl Stored {
    /// The method by which Helm wrote the objects (Helm 4, `pkg/release/v1`, `apply_method`).
    pub fn method(&self) -> Option<ApplyMethod> {
        match self.apply_method.as_deref() {
            Some("ssa") => Some(ApplyMethod::ServerSide),
            Some("csa") => Some(ApplyMethod::ClientSide),
            _ => None,
        }
    }

    /// The texts of it that a report has, each on one line.
    pub fn info(&self, namespace: &str) -> ReleaseInfo {
        let info = self.info.as_ref();
        let metadata = self.chart.as_ref().and_then(|chart| chart.metadata.as_ref());
        let text = |text: Option<&String>, most| text.filter(|text| !text.is_empty()).map(|text| one_line(text, most));
        let is_time = |text: &&String| {
            text.len() <= TIME && text.bytes().all(|byte| byte.is_ascii_digit() || b"-+:.TZ".contains(&byte))
        };
        ReleaseInfo {
            name: self.name.clone(),
            namespace: namespace.to_owned(),
            revision: self.version,
            chart: text(metadata.and_then(|metadata| metadata.name.as_ref()), CHART),
            version: text(metadata.and_then(|metadata| metadata.version.as_ref()), CHART),
            status: text(info.and_then(|info| info.status.as_ref()), STATUS).unwrap_or_else(|| "unknown".to_owned()),
            time: info.and_then(|info| info.last_deployed.as_ref()).filter(is_time).cloned(),
            newer: None,
        }
    }
}

/// Unpacks a record (Helm `pkg/storage/driver/util.go`): JSON, compressed since Helm 2, in base64, and in that of a Secret. The reasons
/// quote nothing of it, as the values of a chart are in it.
pub(super) fn unpack(record: &Value, is_secret: bool) -> Result<Stored, &'static str> {
    if is_secret && record.get("type").and_then(Value::as_str) != Some(TYPE) {
        return Err("its type is not `helm.sh/release.v1`");
    }
    let text = record.pointer("/data/release").and_then(Value::as_str).ok_or("it has no `data.release`")?;
    let decoded = |text: &[u8]| BASE64.decode(text).map_err(|_| "its `data.release` is not base64");
    let mut bytes = decoded(text.trim().as_bytes())?;
    if is_secret {
        bytes = decoded(bytes.trim_ascii())?;
    }
    if bytes.starts_with(&[0x1f, 0x8b, 0x08]) {
        let mut unpacked = Vec::new();
        let mut reader = MultiGzDecoder::new(bytes.as_slice()).take(LARGEST.saturating_add(1));
        reader.read_to_end(&mut unpacked).map_err(|_| "its compressed content is broken")?;
        bytes = unpacked;
    }
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        return Err("it has more than 32 MiB");
    }
    let Ok(stored) = exact::from_slice(&bytes) else { return Err("it has no release in JSON") };
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_control_plane::gzip;

    use super::*;

    fn secret(content: &[u8]) -> Value {
        json!({"type": TYPE, "data": {"release": BASE64.encode(BASE64.encode(content))}})
    }

    fn manifest(record: &Value, is_secret: bool) -> Result<String, &'static str> {
        unpack(record, is_secret).map(|stored| stored.manifest)
    }

    #[test]
    fn records_are_unpacked_as_helm_packs_them() {
        let release = json!({"name": "pay", "version": 3, "manifest": "a: 1", "config": {"password": "x"}, "chart": {"values": [1]}});
        let release = release.to_string().into_bytes();
        assert_eq!(manifest(&secret(&gzip(&release)), true).as_deref(), Ok("a: 1"));
        assert_eq!(manifest(&secret(&release), true).as_deref(), Ok("a: 1"), "Helm 2 did not always compress");
        let map = json!({"data": {"release": BASE64.encode(gzip(&release))}});
        assert_eq!(manifest(&map, false).as_deref(), Ok("a: 1"));
    }

    #[test]
    fn a_report_has_the_chart_and_the_time_of_a_release_on_one_line() {
        let record = json!({
            "name": "pay", "version": 3, "manifest": "", "apply_method": "ssa",
            "info": {"status": "deployed", "last_deployed": "2026-11-20T10:00:00.5+01:00"},
            "chart": {"metadata": {"name": "pa\ny", "version": "2.4.0"}},
        });
        let stored = unpack(&secret(record.to_string().as_bytes()), true).unwrap();
        let info = stored.info("shop");
        assert_eq!((stored.method(), info.status.as_str()), (Some(ApplyMethod::ServerSide), "deployed"));
        assert_eq!((info.chart.as_deref(), info.version.as_deref()), (Some("pa y"), Some("2.4.0")));
        assert_eq!(info.time.as_deref(), Some("2026-11-20T10:00:00.5+01:00"));
        let record = json!({"name": "pay", "version": 3, "manifest": "", "info": {"last_deployed": "<script>"}});
        let info = unpack(&secret(record.to_string().as_bytes()), true).unwrap().info("shop");
        assert_eq!((info.time, info.chart, info.status.as_str()), (None, None, "unknown"));
    }

    #[test]
    fn a_broken_record_is_refused_and_not_quoted() {
        let bomb = gzip(&vec![b' '; 40 << 20]);
        assert!(bomb.len() < 1 << 20);
        let mut cut = gzip(br#"{"name": "pay", "version": 3, "manifest": "a: 1"}"#);
        cut.truncate(30);
        let other = json!({"type": "Opaque", "data": {"release": ""}});
        for (record, reason) in [
            (secret(&bomb), "it has more than 32 MiB"),
            (secret(&cut), "its compressed content is broken"),
            (secret(br#"{"name": "hunter2"}"#), "it has no release in JSON"),
            (secret("[".repeat(200_000).as_bytes()), "it has no release in JSON"),
            // Everything of others is read as exactly the type that it has.
            (secret(br#"["pay", 3, "a: 1", null, null, null]"#), "it has no release in JSON"),
            (
                secret(br#"{"name": "pay", "version": 3, "manifest": "", "info": ["deployed", null]}"#),
                "it has no release in JSON",
            ),
            (
                secret(br#"{"name": "pay", "version": 3, "manifest": "", "chart": [["pay", "1"]]}"#),
                "it has no release in JSON",
            ),
            (
                secret(br#"{"name": "pay", "version": 3, "manifest": "", "chart": {"metadata": ["pay", "1"]}}"#),
                "it has no release in JSON",
            ),
            (secret(br#"{"name": "pay", "version": "3", "manifest": ""}"#), "it has no release in JSON"),
            (secret(br#"{"name": "pay", "version": 3, "manifest": ["a"]}"#), "it has no release in JSON"),
            (
                secret(br#"{"name": "pay", "version": 3, "manifest": "", "apply_method": true}"#),
                "it has no release in JSON",
            ),
            (json!({"type": TYPE, "data": {"release": "%"}}), "its `data.release` is not base64"),
            (json!({"type": TYPE, "data": {"release": "JSU="}}), "its `data.release` is not base64"),
            (json!({"type": TYPE, "data": {}}), "it has no `data.release`"),
            (other, "its type is not `helm.sh/release.v1`"),
        ] {
            assert_eq!(manifest(&record, true), Err(reason));
        }
    }
}
