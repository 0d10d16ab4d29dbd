//! What others write about a Secret is not repeated: webhooks, policies and servers quote its values in any spelling. The harness
//! looks for the registered values in all output of every run.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::{Fault, Proxy, Replaced, Run, Workspace};

/// A Secret with this value under `key`.
fn secret(value: &str) -> String {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "it"}, "stringData": {"key": value}}).to_string()
}

/// Spellings of a value in which somebody may quote it.
fn spellings(value: &str) -> Vec<String> {
    let escaped = Value::from(value).to_string();
    let html = escaped.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
    let base64 = crate::control_plane::base64(value.as_bytes());
    let flattened = value.split_whitespace().collect::<Vec<_>>().join(" ");
    vec![
        value.to_owned(),
        value.trim().to_owned(),
        escaped,
        html,
        base64,
        flattened,
        format!("{value:?}"),
        value.chars().rev().collect(),
    ]
}

/// A refusal that quotes a text wherever a webhook may write.
fn refusal(code: u16, quote: &str) -> Fault {
    let cause = json!({"reason": quote, "message": quote, "field": quote});
    let in_key = json!({"reason": "FieldValueInvalid", "message": quote, "field": format!("data[{quote}]")});
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": quote,
        "message": format!("admission webhook \"quote.example.com\" denied the request: {quote}"),
        "details": {"name": quote, "kind": quote, "causes": [cause, in_key]},
    });
    Fault::Answer(code, vec![("Content-Type", "application/json".to_owned())], status.to_string())
}

fn error_of(run: &Run) -> String {
    run.object("Secret", "it")["error"].to_string()
}

#[test]
fn no_refusal_of_any_request_repeats_what_it_quotes() {
    let ws = Workspace::new();
    let values = [
        "trailing-newline-of-echo\n",
        "https://host.example/?one=first-part&two=second<part>",
        "-----BEGIN PRIVATE KEY-----\nMIIBVQIBADANBgkqhkiG9w0B\nAQEFAASCAT8wggE7AgEAAkEA\n-----END PRIVATE KEY-----\n",
        "with  two  blanks and a 'quote'",
    ];
    for value in values {
        ws.secret(value.trim());
        value.lines().filter(|line| line.len() >= 20 && !line.starts_with('-')).for_each(|line| drop(ws.secret(line)));
        ws.write("it.yaml", &secret(value));
        for quote in spellings(value) {
            ws.secret(&quote);
            let proxy = Proxy::new(&ws);
            proxy.inject(9, "PATCH", "secrets/it", refusal(403, &quote));
            for command in ["diff", "apply"] {
                let run = ws.through(&proxy.url()).reconcile([command, "-f", ".", "-v", "9"]).exits_with(4);
                let error = error_of(&run);
                assert!(error.contains("quote.example.com") && error.contains("403 Forbidden"), "{error}");
            }
        }
    }
}

#[test]
fn refusals_of_every_verb_and_code_are_reported_with_code_and_reason() {
    let ws = Workspace::new();
    let value = ws.secret("quoted-by-every-answer");
    ws.write("it.yaml", &secret(&value));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let run = |rules: &[(&str, &str, u16)], arguments: &[&str], code: i32| {
        let proxy = Proxy::new(&ws);
        for (method, pattern, status) in rules {
            proxy.inject(99, method, pattern, refusal(*status, &value));
        }
        ws.through(&proxy.url()).reconcile([arguments, &["-f", ".", "-v", "9"]].concat()).exits_with(code)
    };
    let read = [("GET", "secrets", 403)];
    for command in [&["diff"][..], &["apply"], &["status"]] {
        let refused = run(&read, command, 4);
        assert!(error_of(&refused).contains("403 Forbidden"), "{refused}");
    }
    assert!(run(&read, &["snapshot"], 4).stderr.contains("403 Forbidden"));
    for status in [400, 409, 422, 429, 500, 503, 504] {
        run(&[("PATCH", "secrets/it", status)], &["diff", "--evidence=server"], 4);
    }
    ws.write("it.yaml", &secret(&value).replaced("\"Secret\"", "\"Secret\",\"type\":\"example.com/other\""));
    let replaced = run(&[("DELETE", "secrets/it", 403)], &["apply", "--replace=immutable"], 4);
    assert!(error_of(&replaced).contains("quote.example.com"), "{replaced}");
    let create = [("PATCH", "secrets/it !dryRun", 403), ("POST", "secrets !dryRun", 500)];
    let lost = run(&create, &["apply", "--replace=immutable"], 4);
    assert!(error_of(&lost).contains("put back"), "{lost}");
}

#[test]
fn the_parent_and_the_lists_of_an_apply_set_are_reported_in_the_same_way() {
    let ws = Workspace::new();
    let value = ws.secret("quoted-about-the-parent");
    ws.write("it.yaml", &secret(&value));
    let set = ["--prune", "--applyset=set", "-f", ".", "-v", "9"];
    for (method, pattern) in [("GET", "secrets/set"), ("PATCH", "secrets/set"), ("GET", "secrets?")] {
        for command in ["diff", "apply"] {
            let proxy = Proxy::new(&ws);
            proxy.inject(99, method, pattern, refusal(403, &value));
            ws.through(&proxy.url()).reconcile([&[command][..], &set].concat());
        }
    }
    ws.reconcile([&["apply"][..], &set].concat()).exits_with(0);
    let proxy = Proxy::new(&ws);
    proxy.inject(99, "GET", "secrets?", refusal(403, &value));
    let refused = ws.through(&proxy.url()).reconcile([&["diff"][..], &set].concat()).exits_with(4);
    assert!(refused.stderr.contains("members of kind `Secret`"), "{refused}");
}

/// A policy of the namespace that quotes the value of the Secret.
fn policy(ws: &Workspace, action: &str) {
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS-quotes}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [secrets]}]
  validations:
  - expression: 'false'
    messageExpression: >-
      'no: ' + string(object != null ? object.data['key'] : oldObject.data['key'])
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS-quotes}
spec: {policyName: $NS-quotes, validationActions: [ACTION]}
";
    let flags = ["apply", "--server-side", "-f", "-"];
    ws.stdin(&policy.replaced("ACTION", action)).kubectl(flags).exits_with(0);
}

/// Runs until something of the policy is seen.
fn until(ws: &Workspace, arguments: &[&str], is_seen: impl Fn(&Run) -> bool) -> Run {
    for _ in 0..100 {
        let run = ws.reconcile(arguments);
        if is_seen(&run) {
            return run;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("the policy takes effect");
}

/// A Secret that is the parent of a set may have values of its own.
#[test]
fn a_policy_that_quotes_the_parent_of_a_set_is_named_and_not_repeated() {
    let ws = Workspace::new();
    let value = ws.secret("quoted-by-a-policy-of-parents");
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let flags = ["apply", "-f", ".", "--prune", "--applyset=set"];
    ws.reconcile(flags).exits_with(0);
    ws.patch_as("kubectl-edit", "secret/set", &json!({"stringData": {"key": value}}));
    policy(&ws, "Warn");
    ws.write("b.yaml", "{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {ports: [{port: 80}]}}");
    ws.write("probe/it.yaml", &secret(&value));
    until(&ws, &["diff", "-f", "probe", "--evidence=server"], |run| run.stdout.contains("AdmissionPolicy"));
    let run = ws.reconcile(flags).exits_with(0);
    let parent =
        ws.fill_in("warning: Secret $NS/set, the parent of the apply set: ValidatingAdmissionPolicy `$NS-quotes`");
    assert!(run.stderr.contains(&parent) && run.stderr.contains("it may quote a secret value"), "{run}");
}

#[test]
fn a_policy_that_quotes_a_secret_is_named_and_not_repeated() {
    let ws = Workspace::new();
    let value = ws.secret("quoted-by-a-policy");
    let name = ws.fill_in("$NS-quotes");
    ws.write("it.yaml", &secret(&value));
    policy(&ws, "Warn");
    let by = format!("ValidatingAdmissionPolicy `{name}` (binding `{name}`)");
    let warned = until(&ws, &["diff", "-f", ".", "--evidence=server"], |run| {
        run.object("Secret", "it")["warnings"].to_string().contains("AdmissionPolicy")
    });
    let warning = format!("{by} warns: the text is left out because it may quote a secret value");
    assert_eq!(warned.exits_with(1).object("Secret", "it")["warnings"], json!([warning]));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);

    policy(&ws, "Deny");
    ws.write("it.yaml", &secret(&ws.secret("another-one-for-the-policy")));
    let denied = until(&ws, &["diff", "-f", "."], |run| run.code == 4);
    let error = &denied.object("Secret", "it")["error"];
    assert_eq!(error["message"], format!("{by} denied the request (422 Invalid)"), "{error}");
    ws.reconcile(["apply", "-f", ".", "-v", "9"]).exits_with(4);
    ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
}
