//! `blame`: read current, and show who owns each field.

use futures::{StreamExt as _, stream};
use reconcile_report::blame::{json as as_json, text, verdict};
use reconcile_report::formats::text::matrix::heading;

use crate::cli::{BlameArgs, BlameFormat, ConnectionArgs};
use crate::client::Context;
use crate::session::audit_log::AuditLogs;
use crate::session::blaming::{BlamedContext, Blaming};
use crate::session::configured::{Configured, Settings};
use crate::session::contexts::{Choice, chosen};
use crate::session::failure::Failure;
use crate::session::output::{Output, print_diagnostics};
use crate::session::run::Invocation;
use crate::session::several::{AT_ONCE, all_expected};
use crate::session::signals::listen;
use crate::terminal::Terminal;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &BlameArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let audit_logs = AuditLogs::open(&args.audit_logs, &args.connection)?;
    let output = &Output::of_text(terminal, &args.text, args.output == BlameFormat::Text);
    let choice = chosen(&args.connection)?;
    let settings;
    let (mut manifests, mut desired) = (None, None);
    if args.reads_manifests() {
        settings = Settings::of(configured?, output);
        if let Choice::Several(contexts) = &choice {
            all_expected(contexts, &settings.configuration.expect)?;
        }
        let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings: &settings };
        desired = invocation.desired().await?;
        manifests = Some(invocation);
    }
    let blaming = Blaming { args, manifests, desired, audit_logs, interrupt: listen(terminal) };
    match choice {
        Choice::One(connection) => {
            let BlamedContext { objects, .. } = Box::pin(blaming.in_context(&connection, output)).await?;
            let _ = match args.output {
                BlameFormat::Text => output.text(&text(&objects, &output.view)),
                BlameFormat::Json => terminal.data(&as_json(&objects)),
            };
            Ok(verdict(&objects).exit_code(false))
        }
        Choice::Several(contexts) => Ok(Box::pin(in_several(&blaming, &contexts, output)).await),
    }
}

/// Shows the objects of several contexts, one context below the other. Returns the exit code of the worst result.
async fn in_several(blaming: &Blaming<'_>, contexts: &[Context], output: &Output) -> u8 {
    let (args, terminal) = (blaming.args, &output.terminal);
    let blamed = contexts.iter().map(|context| async move {
        let own = output.of_context(&context.name);
        let connection = ConnectionArgs { context: Some(context.name.clone()), ..args.connection.clone() };
        (context, Box::pin(blaming.in_context(&connection, &own)).await, own)
    });
    let mut blamed = stream::iter(blamed).buffered(AT_ONCE);
    let (mut worst, mut all) = (verdict(&[]), Vec::new());
    while let Some((context, result, own)) = blamed.next().await {
        let of_context = match result {
            Ok(BlamedContext { server, objects }) => {
                let mut shown = heading(&context.name, Some(&server));
                shown.append(text(&objects, &own.view));
                shown.line_end();
                let _ = output.text(&shown);
                let of_context = verdict(&objects);
                all.extend(objects.into_iter().map(|object| object.of_context(&context.name)));
                of_context
            }
            Err(Failure { verdict, diagnostics }) => {
                print_diagnostics(&own.terminal, &diagnostics);
                verdict
            }
        };
        worst = worst.max(of_context);
    }
    if args.output == BlameFormat::Json {
        let _ = terminal.data(&as_json(&all));
    }
    worst.exit_code(false)
}
