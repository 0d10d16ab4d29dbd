//! The end of the help of the program: exit codes, environment variables and examples of all commands. The commands that talk to a
//! cluster repeat the variables that matter most.

pub(crate) const AFTER_HELP: &str = "\
Exit codes:
  0    in sync (diff), everything applied (apply), everything ready (status),
       all permissions held (access)
  1    drift found (diff), a permission is missing (access), or the answer to
       --confirm was no, and nothing was written (apply)
  2    invalid flags, configuration or input, and nothing was compared or changed;
       or a report could not be written
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be compared or applied; the others were
  5    not everything is ready (status, apply --wait)
  130  interrupted; the report shows what was done
  101  a bug in the program: report the line that it printed

Environment variables:
  KUBECONFIG                 kubeconfig files, separated by colons (on Windows: semicolons)
  KUBERC                     file with the preferences of kubectl, or `off`; only its
                             policy for credential plugins is used
  KUBECTL_KUBERC             `false` turns these preferences off
  HTTPS_PROXY, HTTP_PROXY    proxy for the connection, unless the kubeconfig names one
  NO_PROXY                   servers that are reached without a proxy
  NO_COLOR                   no colours, unless --color says otherwise
  CLICOLOR_FORCE             colours even if the output is not a terminal
  CI                         neither a live progress line nor a pager, unless empty or `false`
  TERM                       no colours, progress line or pager if it is `dumb` or not set
  KUBECTL_RECONCILE_PAGER, PAGER
                             pager for text on a terminal, `cat` for none (default: less -FRX)
  LESS, LV                   options of these pagers, unless set: FRX and -c
  COLUMNS                    width of the text, if the output is not a terminal
  KUBECTL_EXTERNAL_DIFF      diff program that -o unified runs instead of printing a patch
  SOURCE_DATE_EPOCH          time of the run in reports, in seconds since 1970
  KUBECTL_RECONCILE_PLAN_KEY
                             key for --save-plan and --plan, so that plans cover values of Secrets
  GITHUB_STEP_SUMMARY        (in GitHub Actions) a report in this file is appended to it
  RUST_BACKTRACE             after a bug in the program, 1 also shows where it was
  HOME                       where ~/.kube/config and ~/.kube/cache are
  PATH                       where kustomize, kubectl and credential plugins are found;
                             relative entries are ignored
  PATHEXT                    (Windows) endings of programs
  POD_NAMESPACE              (in a Pod) default namespace
  KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT
                             (in a Pod) the API server, if there is no kubeconfig

Examples:
  # What differs between the manifests and the cluster?
  kubectl reconcile diff -f deploy/

  # Make the cluster match, and wait until everything is ready
  kubectl reconcile apply -f deploy/ --wait

  # All flags, exit codes and examples of a command
  kubectl reconcile diff --help";

/// The variables that the help of each command with a cluster lists.
const COMMON: [&str; 5] = ["KUBECONFIG", "HTTPS_PROXY", "NO_PROXY", "NO_COLOR", "KUBECTL_RECONCILE_PAGER"];
/// The variable for `-o unified`.
const DIFF: &str = "KUBECTL_EXTERNAL_DIFF";

/// The end of the help of a command that talks to a cluster: with the variables, before the examples.
pub(crate) fn connected(after_help: &str) -> String {
    with(after_help, &COMMON)
}

/// The end of the help of a command that connects and shows differences as a patch.
pub(crate) fn connected_diff(after_help: &str) -> String {
    let names: Vec<&str> = COMMON.into_iter().chain([DIFF]).collect();
    with(after_help, &names)
}

fn with(after_help: &str, names: &[&str]) -> String {
    let variables: Vec<&str> = names.iter().flat_map(|name| lines_of(name)).collect();
    let variables = variables.join("\n");
    let section = format!("Environment variables (`kubectl reconcile --help` lists all):\n{variables}\n");
    match after_help.split_once("\n\nExamples:") {
        Some((before, examples)) => format!("{before}\n\n{section}\nExamples:{examples}"),
        None => format!("{after_help}\n\n{section}"),
    }
}

/// The lines about a variable in the help of the program.
fn lines_of(name: &str) -> impl Iterator<Item = &'static str> {
    let mut lines = AFTER_HELP
        .lines()
        .skip_while(move |line| line.trim_start().split([' ', ',']).next() != Some(name) || !line.starts_with("  "));
    let first = lines.next();
    first.into_iter().chain(lines.take_while(|line| line.starts_with("    ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_described_where_all_of_them_are() {
        for name in COMMON.into_iter().chain([DIFF]) {
            let text: Vec<&str> = lines_of(name).collect();
            assert!((1..=2).contains(&text.len()) && text[0].contains(name), "{name}: {text:?}");
        }
        let help = connected("Exit codes:\n  0    yes\n\nExamples:\n  # a");
        assert!(help.starts_with("Exit codes:") && help.ends_with("Examples:\n  # a"), "{help}");
        assert!(help.contains("\n  KUBECONFIG ") && !help.contains(DIFF), "{help}");
        assert!(connected_diff("").contains(DIFF));
    }
}
