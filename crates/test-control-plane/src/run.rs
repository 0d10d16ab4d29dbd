//! Output and exit code of a program.

use serde_json::Value;

/// The result of running `kubectl` or our program.
#[derive(Debug, Clone)]
pub struct Run {
    /// The command line, for messages.
    pub command: String,
    /// The exit code, or the negative number of the signal that ended it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// The JSON document that was printed, or that our program wrote as its report.
    pub report: Option<Value>,
}

impl Run {
    /// Fails the test, with all output, unless the exit code is `code`.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Run {
        assert_eq!(self.code, code, "exit code of {self}");
        self
    }

    /// The report; fails the test if there is none.
    #[track_caller]
    pub fn report(&self) -> &Value {
        self.report.as_ref().unwrap_or_else(|| panic!("no report from {self}"))
    }

    /// The objects of the report; fails the test if it has no list of them.
    #[track_caller]
    pub fn objects(&self) -> &[Value] {
        self.report()["objects"].as_array().unwrap_or_else(|| panic!("no objects in the report of {self}"))
    }

    /// The object of the report with this kind and name; fails the test if there is none.
    #[track_caller]
    pub fn object(&self, kind: &str, name: &str) -> &Value {
        let found = self.objects().iter().find(|object| object["kind"] == kind && object["name"] == name);
        found.unwrap_or_else(|| panic!("no {kind} {name} in the report of {self}"))
    }

    /// The changes of an object as `class path`, in the order of the report.
    #[track_caller]
    pub fn changes(&self, kind: &str, name: &str) -> Vec<String> {
        self.changes_of(kind, name)
            .iter()
            .map(|change| format!("{} {}", text(change, "class"), text(change, "path")).trim_end().to_owned())
            .collect()
    }

    #[track_caller]
    fn changes_of(&self, kind: &str, name: &str) -> &[Value] {
        let changes = self.object(kind, name)["changes"].as_array();
        changes.unwrap_or_else(|| panic!("{kind} {name} has no list of changes in the report of {self}"))
    }

    /// The change of an object at `path`; fails the test if there is none.
    #[track_caller]
    pub fn change(&self, kind: &str, name: &str, path: &str) -> &Value {
        let found = self.changes_of(kind, name).iter().find(|change| change["path"] == path);
        found.unwrap_or_else(|| {
            panic!("no change at `{path}` of {kind} {name}, only {:#?} in {self}", self.changes(kind, name))
        })
    }

    /// The objects of the report as `Kind name: VALUE`, with the value of a field of each, in the order of the report.
    #[track_caller]
    pub fn each(&self, field: &str) -> Vec<String> {
        let line =
            |object: &Value| format!("{} {}: {}", text(object, "kind"), text(object, "name"), text(object, field));
        self.objects().iter().map(line).collect()
    }

    /// Number of writing requests that the run reports.
    #[track_caller]
    pub fn writes(&self) -> u64 {
        self.report()["requests"]["write"].as_u64().unwrap_or_else(|| panic!("no count of writes from {self}"))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` (exit code {})\n--- stdout ---\n{}", self.command, self.code, self.stdout)?;
        write!(f, "--- stderr ---\n{}", self.stderr)
    }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}
