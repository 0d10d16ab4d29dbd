//! The fields that a manifest claims, as worked out here, are those that the API server records: for every kind, and for
//! manifests made at random.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use structured_merge::{Operation, managed_fields};

use crate::control_plane::is_before;
use crate::generated::{AT_ONCE, on_the_ground};

const MANAGER: &str = "field-sets";

#[test]
fn a_manifest_claims_what_the_server_records() {
    on_the_ground(async |ground| {
        let targets = ground.generate(1, 1, 6).await;
        let kinds: BTreeSet<_> = targets.iter().map(|target| &target.key.gvk).collect();
        assert!(targets.len() >= 300, "{}", targets.len());
        let least = if is_before(36, "kinds that came later") { 45 } else { 60 };
        assert!(kinds.len() >= least, "{}", kinds.len());
        let compared = futures::stream::iter(&targets).map(async |target| {
            let manifest = target.desired.object();
            let applied = match ground.apply(target, manifest, MANAGER, "&force=true").await {
                Ok(applied) => applied,
                Err(status) => return Some(format!("{}: {} {}\n{manifest}", target.key, status.code, status.message)),
            };
            let entries = managed_fields(&applied);
            let ours = entries.iter().find(|entry| entry.manager == MANAGER && entry.operation == Operation::Apply);
            let recorded = ours.map(|entry| entry.fields.clone()).unwrap_or_default();
            let claimed = structured_merge::field_set(manifest, ground.of(target), target.kind().as_ref());
            let only = |a: &structured_merge::FieldSet, b| {
                a.difference(b).paths().iter().map(ToString::to_string).collect::<Vec<_>>()
            };
            (claimed != recorded).then(|| {
                format!(
                    "{}: only here {:?}, only there {:?}",
                    target.key,
                    only(&claimed, &recorded),
                    only(&recorded, &claimed)
                )
            })
        });
        let wrong: Vec<Option<String>> = compared.buffer_unordered(AT_ONCE).collect().await;
        let wrong: Vec<String> = wrong.into_iter().flatten().collect();
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), targets.len(), wrong.join("\n"));
    });
}
