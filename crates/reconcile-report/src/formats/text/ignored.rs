//! The differences that rules ignored, and the fields that autoscalers and other controllers set.

use crate::Report;

/// The clauses of the summary.
pub(crate) fn clauses(report: &Report) -> Vec<String> {
    let count = |is_written: bool| -> usize {
        let all = report.objects.iter().flat_map(|object| &object.diff.ignored);
        all.filter(|ignored| ignored.is_written == is_written).map(|ignored| ignored.paths.len()).sum()
    };
    let mut clauses = Vec::new();
    match count(true) {
        0 => {}
        1 => clauses.push("1 difference ignored by a rule".to_owned()),
        more => clauses.push(format!("{more} differences ignored by rules")),
    }
    match count(false) {
        0 => {}
        1 => clauses.push("1 difference managed by a controller".to_owned()),
        more => clauses.push(format!("{more} differences managed by controllers")),
    }
    clauses
}
