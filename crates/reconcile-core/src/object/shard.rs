//! Shards (`--shard I/N`): each of several runs takes one.

use std::fmt;
use std::str::FromStr;

use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::ObjectKey;

/// Most shards that objects can be divided into.
const MOST: u32 = 10_000;

/// One of several shards of the objects.
///
/// An object is in the shard `hash modulo N`, where `hash` is the first 8 bytes of the SHA-256 of `GROUP/KIND/NAMESPACE/NAME`, as a
/// big-endian number. The group of the core group and the namespace of a cluster-scoped object are empty, and the version does not
/// count. This is a contract: it is the same on all machines and in all releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The index of the shard, from 0.
    pub index: u32,
    /// Number of shards.
    #[schemars(range(min = 1))]
    #[serde(rename = "of")]
    pub count: u32,
}

impl Shard {
    /// The shard that has an object, out of the same number of shards.
    pub fn holding(self, key: &ObjectKey) -> Self {
        let ObjectKey { gvk, namespace, name } = key;
        let text = format!("{}/{}/{}/{name}", gvk.group, gvk.kind, namespace.as_deref().unwrap_or_default());
        let hash = digest(&SHA256, text.as_bytes());
        let number = hash.as_ref().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let index = number.checked_rem(u64::from(self.count)).and_then(|index| u32::try_from(index).ok());
        Self { index: index.unwrap_or_default(), count: self.count }
    }

    /// Returns true if an object is in this shard.
    pub fn has(self, key: &ObjectKey) -> bool {
        self.holding(key) == self
    }

    /// Returns true if the number of shards is allowed and the index is below it.
    pub fn is_valid(self) -> bool {
        self.index < self.count && self.count <= MOST
    }
}

/// `0/4`
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((index, count)) = text.split_once('/') else {
            return Err("write the index of the shard and the number of shards, as in `0/4`".to_owned());
        };
        let number = |text: &str, what: &str| {
            if text.is_empty() {
                let hint = "is the variable for it set, such as JOB_COMPLETION_INDEX?";
                return Err(format!("{what} is missing: {hint}"));
            }
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| digits).ok_or_else(|| format!("{what} is not a number: write `0/4`"))
        };
        let shard =
            Self { index: number(index, "the index before `/`")?, count: number(count, "the number after `/`")? };
        match shard {
            Self { count: 0, .. } => Err("there has to be at least one shard, as in `0/1`".to_owned()),
            Self { count, .. } if count > MOST => Err(format!("there can be at most {MOST} shards")),
            Self { count, .. } if !shard.is_valid() => {
                Err(format!("shards are counted from 0: the last one is `{}/{count}`", count.saturating_sub(1)))
            }
            valid => Ok(valid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use structured_merge::GroupVersionKind;

    fn key(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
        let gvk = GroupVersionKind::new(api_version, kind);
        ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: name.to_owned() }
    }

    /// Calculated with `printf 'GROUP/KIND/NAMESPACE/NAME' | sha256sum | cut -c-16`, and `python3 -c 'print(0x… % N)'`.
    #[test]
    fn objects_are_where_they_have_always_been() {
        let vectors = [
            (key("v1", "Namespace", None, "shop"), [1, 0, 3, 7, 4147]),
            (key("apps/v1", "Deployment", Some("shop"), "web"), [1, 2, 1, 9, 2969]),
            (key("rbac.authorization.k8s.io/v1", "ClusterRole", None, "system:reader"), [0, 2, 0, 0, 5600]),
            (key("example.com/v1beta1", "Widget", Some("größe"), "x.y"), [0, 1, 0, 4, 5244]),
        ];
        for (key, shards) in vectors {
            let holding = [2, 3, 4, 10, 10_000].map(|count| Shard { index: 0, count }.holding(&key).index);
            assert_eq!(holding, shards, "{key}");
        }
    }

    #[test]
    fn the_version_of_an_object_does_not_move_it() {
        let holding =
            |api_version| Shard { index: 0, count: 1000 }.holding(&key(api_version, "CronJob", Some("shop"), "tidy"));
        assert_eq!(holding("batch/v1"), holding("batch/v1beta1"));
        assert_ne!(holding("batch/v1"), holding("v1"));
    }

    #[test]
    fn every_object_is_in_exactly_one_shard() {
        for number in 0..200 {
            let key = key("v1", "ConfigMap", Some("shop"), &format!("settings-{number}"));
            let holders = (0..7).filter(|index| Shard { index: *index, count: 7 }.has(&key)).count();
            assert_eq!(holders, 1);
        }
    }

    #[test]
    fn what_is_no_part_is_explained() {
        assert_eq!("3/4".parse(), Ok(Shard { index: 3, count: 4 }));
        assert_eq!("0/1".parse::<Shard>().unwrap().to_string(), "0/1");
        for (text, reported) in [
            ("3", "as in `0/4`"),
            ("", "as in `0/4`"),
            ("/4", "JOB_COMPLETION_INDEX"),
            ("1/", "the number after `/` is missing"),
            ("$(JOB_COMPLETION_INDEX)/4", "is not a number"),
            ("+1/4", "is not a number"),
            ("-1/4", "is not a number"),
            ("1/4/8", "is not a number"),
            ("1/99999999999", "is not a number"),
            ("0/0", "at least one"),
            ("4/4", "the last one is `3/4`"),
            ("0/10001", "at most 10000"),
        ] {
            let refused = text.parse::<Shard>().unwrap_err();
            assert!(refused.contains(reported), "{text}: {refused}");
        }
    }
}
