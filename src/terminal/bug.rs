//! The message for a panic: its location, and what to report. It never shows a value, which may be a secret.

use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{Location, PanicHookInfo, set_hook};

use bounded_cel::is_guarded;

/// Replaces the message of a panic, which may have values, by one without. The process exits with 101, as any Rust program does. A panic
/// in the evaluation of a readiness rule is no bug of this program: it becomes an error of the rule.
pub fn report_panics() {
    set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        if is_guarded() {
            return;
        }
        let text = message(panic.location(), std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0"));
        // If stderr is closed, only the exit code says it.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }));
}

fn message(location: Option<&Location<'_>>, has_backtrace: bool) -> String {
    let name = env!("CARGO_PKG_NAME");
    let version = env!("CARGO_PKG_VERSION");
    let system = std::env::consts::OS;
    let machine = std::env::consts::ARCH;
    let mut text = format!("error: this is a bug in {name} {version} ({system}/{machine})");
    if let Some(location) = location {
        // The end of the path says which dependency it is.
        let parts: Vec<&str> = location.file().rsplit(['/', '\\']).take(4).collect();
        let file = parts.into_iter().rev().collect::<Vec<_>>().join("/");
        let _ = write!(text, ": it panicked at {file}:{}:{}", location.line(), location.column());
    }
    text.push_str(
        "\nhint: report this line and the flags that you used, without values; objects that were not reported may have been \
         written: run `diff` to see the remaining differences\n",
    );
    if has_backtrace {
        // Names of functions and files, and no values.
        let _ = writeln!(text, "{}", std::backtrace::Backtrace::force_capture());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Run in a process of its own by the test below.
    #[test]
    #[ignore = "it panics on purpose"]
    fn panics_with_a_secret() {
        report_panics();
        let secret = "hunter2".to_owned();
        panic!("cannot read {secret}");
    }

    #[test]
    fn a_panic_says_where_and_shows_no_value() {
        let program = std::env::current_exe().unwrap();
        for backtrace in ["0", "1"] {
            let mut command = Command::new(&program);
            command.args(["--exact", "terminal::bug::tests::panics_with_a_secret", "--ignored", "--nocapture"]);
            let output = command.env("RUST_BACKTRACE", backtrace).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(101), "{stderr}");
            assert!(
                stderr.starts_with("error: this is a bug in kubectl-reconcile ") && stderr.contains("hint: report"),
                "{stderr}"
            );
            assert!(stderr.contains("src/terminal/bug.rs:") && !stderr.contains("hunter2"), "{stderr}");
            assert_eq!(stderr.contains(" 0: "), backtrace == "1", "{stderr}");
        }
    }

    /// Run in a process of its own by the test below.
    #[test]
    #[ignore = "it panics on purpose"]
    fn panics_in_a_readiness_rule() {
        report_panics();
        let secret = "hunter2".to_owned();
        assert!(bounded_cel::guarded(|| panic!("cannot evaluate {secret}")).is_err());
    }

    #[test]
    fn a_panic_in_a_readiness_rule_is_not_printed() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "terminal::bug::tests::panics_in_a_readiness_rule", "--ignored", "--nocapture"]);
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    }

    #[test]
    fn the_place_is_short() {
        assert!(message(Some(Location::caller()), false).contains("kubectl-reconcile"));
        assert_eq!(message(None, false).lines().count(), 2);
    }
}
