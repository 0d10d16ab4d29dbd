//! Every text of others is harmful in this report. A new format is tested by its row in `FORMATS` alone.

use reconcile_core::owners::{AuditAnswer, User};
use reconcile_core::text::is_hidden;

use super::formats::{all, one};
use super::parsers;
use super::scenario::{EVIL, apply, diff, several, stopped};
use crate::formats::{FORMATS, Format};
use crate::model::Report;

/// Nothing that a terminal acts on or hides, and a document that its readers understand.
#[track_caller]
fn harmless(format: &Format, shown: &str) {
    let hidden: Vec<char> = shown.chars().filter(|c| !matches!(c, '\n' | '\t') && is_hidden(*c)).collect();
    assert!(hidden.is_empty(), "{}: {hidden:?}", format.name);
    (parsers::of(format.name))(shown);
}

/// The report with users whom a log names: in a report that is read again, any text.
fn with_users(mut report: Report, text: &str) -> Report {
    let user = User {
        name: text.to_owned(),
        time: text.to_owned(),
        impersonated_by: Some(text.to_owned()),
        ..User::default()
    };
    for object in &mut report.objects {
        for change in &mut object.diff.changes {
            change.removed_by = Some(Box::new(AuditAnswer { user: None, users: vec![user.clone()] }));
            change.managers.iter_mut().for_each(|owner| owner.users.users = vec![user.clone(), user.clone()]);
        }
        for conflict in &mut object.diff.conflicts {
            conflict.owner.users.user = Some(Box::new(user.clone()));
        }
    }
    report
}

#[test]
fn hostile_values_do_no_harm_in_any_format() {
    for format in FORMATS {
        for report in [diff(EVIL), apply(EVIL), stopped(EVIL), with_users(diff(EVIL), EVIL)] {
            harmless(format, &one(format, &report));
        }
        harmless(format, &all(format, &several(EVIL)));
    }
}

#[test]
fn hostile_values_change_nothing_about_the_shape_of_a_document() {
    for format in FORMATS.iter().filter(|format| format.name != "text" && format.name != "html") {
        let with_users = |text| with_users(diff(text), text);
        for (harmless, evil) in [
            (diff("plain"), diff(EVIL)),
            (with_users("plain"), with_users(EVIL)),
            (apply("plain"), apply(EVIL)),
            (stopped("plain"), stopped(EVIL)),
        ] {
            let shape = parsers::shape(format.name);
            assert_eq!(shape(&one(format, &harmless)), shape(&one(format, &evil)), "{}", format.name);
        }
    }
}
