//! What the user may do of what is needed.

use std::collections::BTreeMap;

use crate::client::{Cluster, RequestError};
use crate::diagnostic::Diagnostic;
use crate::live::access::review;
use crate::object::Permission;
use crate::plan::access::Purpose;
use crate::report::access::Reviewed;

/// Asks the server for each permission. What it cannot answer is an error of the report; an error of all is one of the run.
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
                let trouble = Diagnostic::from(&error);
                let message = format!("whether {permission} is allowed is not known: {}", trouble.message);
                errors.push(Diagnostic { message, ..trouble });
                None
            }
        };
        reviewed.push(Reviewed { purposes, permission, allowed });
    }
    Ok(reviewed)
}
