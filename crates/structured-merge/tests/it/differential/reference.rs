use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::kinds::Kind;

/// structured-merge-diff in a separate process.
pub struct Reference {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Result of a request.
#[derive(Debug)]
pub enum Outcome {
    /// The object with its new `managedFields`.
    Written(Value),
    /// Message and path of each conflict.
    Conflicts(Vec<(String, String)>),
    /// The request was rejected.
    Refused,
}

impl Reference {
    pub fn start(program: &Path) -> Self {
        let mut process =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the reference starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("its output"));
        Self { process, input, output }
    }

    /// Sets the kind of the objects in the next requests.
    pub fn use_types(&mut self, kind: &Kind) {
        let answer = self.ask(&json!({"schemas": kind.schemas()}));
        assert_eq!(answer, json!({}), "{}", kind.schemas());
    }

    /// New objects of all Go types, by apiVersion and kind.
    pub fn new_objects(&mut self) -> Value {
        self.ask(&json!({"operation": "new"}))["object"].take()
    }

    pub fn apply(&mut self, live: Option<&Value>, object: &Value, manager: &str, force: bool) -> Outcome {
        self.write("apply", live, object, manager, force)
    }

    pub fn update(&mut self, live: Option<&Value>, object: &Value, manager: &str) -> Outcome {
        self.write("update", live, object, manager, false)
    }

    fn write(&mut self, operation: &str, live: Option<&Value>, object: &Value, manager: &str, force: bool) -> Outcome {
        let mut answer = self.ask(&json!({
            "operation": operation, "live": live, "object": object, "manager": manager, "force": force,
        }));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(conflicts) = answer["conflicts"].as_array() {
            return Outcome::Conflicts(
                conflicts.iter().map(|one| (text(&one["message"]), text(&one["field"]))).collect(),
            );
        }
        match answer["object"].take() {
            object @ Value::Object(_) => Outcome::Written(object),
            _ => Outcome::Refused,
        }
    }

    fn ask(&mut self, request: &Value) -> Value {
        let input = self.input.as_mut().expect("the input is open");
        writeln!(input, "{request}").expect("the reference reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the reference answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in the answer to {request}"))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // It ends at the end of its input.
        self.input = None;
        let _ = self.process.wait();
    }
}
