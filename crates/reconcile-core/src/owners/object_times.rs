use jiff::Timestamp;
use serde_json::Value;

/// The times of a live object that bound the writes of others, in seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectTimes {
    created: Option<i64>,
    applied: Option<i64>,
}

/// The first write that may have made a field what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The creation of the object: nobody knows since when the field is as it is.
    Creation,
    /// Our own last apply, which made the field ours.
    LastApply,
}

impl ObjectTimes {
    /// The times of an object; `applied` is that of our own entry in `managedFields`.
    pub fn of(live: &Value, applied: Option<&str>) -> Self {
        let created = live.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
        Self { created: created.and_then(second), applied: applied.and_then(second) }
    }

    /// The second of the first write that counts for an entry with this time. An entry that is older than our last apply was
    /// written before it.
    pub fn since(self, reach: Reach, entry: Option<i64>) -> Option<i64> {
        let is_later = |applied: &i64| entry.is_none_or(|entry| entry >= *applied);
        let applied = self.applied.filter(|applied| reach == Reach::LastApply && is_later(applied));
        applied.or(self.created)
    }
}

/// The second of a time (RFC 3339), since 1970.
pub fn second(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_second)
}
