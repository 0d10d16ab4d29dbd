//! Reviews which of the needed permissions the user has.

use std::collections::BTreeMap;

use reconcile_report::access::Reviewed;

use crate::client::{Cluster, RequestError};
use crate::live::access::review;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::object::Permission;
use reconcile_core::plan::access::Purpose;

/// Asks the server for each permission. A permission that it cannot review is an error of the report; a lost connection ends the run.
pub(crate) async fn reviewed(
    cluster: &Cluster,
    needed: BTreeMap<Permission, Vec<Purpose>>,
    errors: &mut Vec<Diagnostic>,
) -> Result<Vec<Reviewed>, RequestError> {
    let answers = review(cluster, &needed.keys().collect::<Vec<_>>()).await;
    let mut reviewed = Vec::with_capacity(needed.len());
    for ((permission, purposes), answer) in needed.into_iter().zip(answers) {
        let allowed = match answer {
            Ok(is_allowed) => Some(is_allowed),
            Err(error) if error.is_whole_run() => return Err(error),
            Err(error) => {
                let diagnostic = Diagnostic::from(&error);
                let message = format!("whether {permission} is allowed is not known: {}", diagnostic.message);
                errors.push(Diagnostic { message, ..diagnostic });
                None
            }
        };
        reviewed.push(Reviewed { purposes, permission, allowed });
    }
    Ok(reviewed)
}
