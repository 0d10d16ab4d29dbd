//! The cluster of a run in words.

use crate::ClusterInfo;

/// `context prod-eu (https://10.1.2.3:6443)`, or `server https://10.1.2.3:6443` without a context; each name in the marks of a format.
pub fn cluster(cluster: &ClusterInfo, marked: impl Fn(&str) -> String) -> String {
    let server = marked(&cluster.server);
    match &cluster.context {
        Some(context) => format!("context {} ({server})", marked(context)),
        None => format!("server {server}"),
    }
}
