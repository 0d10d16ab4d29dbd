use clap::CommandFactory as _;

use super::*;
use crate::commands::Cli;

#[track_caller]
fn candidates_of(words: &[&str], known: &[(Source, &[&str])]) -> (Vec<String>, u8) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let known = known.iter().map(|(source, values)| (*source, owned(values))).collect();
    let Completion { candidates, directive, .. } = complete(&Cli::command(), &words, &known);
    (candidates.iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect(), directive)
}

#[track_caller]
fn candidates(words: &[&str]) -> (Vec<String>, u8) {
    candidates_of(words, &[])
}

#[test]
fn commands_flags_and_values_are_completed() {
    assert_eq!(candidates(&["di"]), (vec!["diff".to_owned()], NO_FILES));
    assert_eq!(candidates(&["diff", "--show-u"]), (vec!["--show-unmanaged".to_owned()], NO_FILES));
    assert_eq!(candidates(&["diff", "-o", "jso"]).0.first().map(String::as_str), Some("json"));
    assert_eq!(candidates(&["diff", "--color", "al"]), (vec!["always".to_owned()], NO_FILES));
    assert_eq!(candidates(&["diff", "--fail-on", "manu"]), (vec!["manual".to_owned()], NO_FILES));
    assert_eq!(candidates(&["diff", "--fail-on", "drift,manu"]), (vec!["drift,manual".to_owned()], NO_FILES));
    assert_eq!(candidates(&["config", "sc"]), (vec!["schema".to_owned()], NO_FILES));
    assert_eq!(candidates(&["completion", "z"]), (vec!["zsh".to_owned()], NO_FILES));
    assert_eq!(candidates(&["__comp"]), (Vec::new(), NO_FILES));
    assert!(candidates(&[""]).0.contains(&"snapshot".to_owned()));
}

/// Bash, zsh and fish put `--flag=` before the candidates.
#[test]
fn values_behind_an_equals_sign_are_offered_without_the_flag() {
    assert_eq!(candidates(&["diff", "--color=n"]), (vec!["never".to_owned()], NO_FILES));
    assert_eq!(candidates(&["diff", "--force-conflicts=n"]), (vec!["none".to_owned()], NO_FILES));
    assert_eq!(candidates(&["diff", "--fail-on=drift,manu"]), (vec!["drift,manual".to_owned()], NO_FILES));
    assert_eq!(candidates(&["diff", "-k=x"]), (Vec::new(), FOLDERS));
}

#[test]
fn files_and_folders_are_left_to_the_shell() {
    for words in
        [["apply", "-f", "dep"], ["diff", "--live", ""], ["diff", "--kubeconfig", "~/"], ["snapshot", "--file", ""]]
    {
        assert_eq!(candidates(&words), (Vec::new(), FILES), "{words:?}");
    }
    assert_eq!(candidates(&["diff", "-k", "over"]), (Vec::new(), FOLDERS));
    assert_eq!(candidates(&["diff", "--cache-dir", ""]), (Vec::new(), FOLDERS));
    assert_eq!(candidates(&["diff", "--token", ""]), (Vec::new(), NO_FILES), "a token is in no file name");
}

#[test]
fn values_from_outside_are_offered_where_they_belong() {
    let known: &[(Source, &[&str])] = &[
        (Source::Contexts, &["prod-eu", "prod-us", "dev"]),
        (Source::Namespaces, &["shop", "shop-test"]),
        (Source::Managers, &["helm", "hand"]),
        (Source::ApplySets, &["shop", "configmap/web"]),
        (Source::Stored, &["helm/web", "helm/pay", "last-applied"]),
        (Source::Types, &["deployments", "ingresses"]),
    ];
    let offered = |words: &[&str]| candidates_of(words, known).0;
    assert_eq!(offered(&["diff", "--context", "prod"]), ["prod-eu", "prod-us"]);
    assert_eq!(offered(&["diff", "--context", "dev,prod-us,p"]), ["dev,prod-us,prod-eu"]);
    assert_eq!(offered(&["diff", "--context=dev,prod-u"]), ["dev,prod-us"]);
    assert_eq!(offered(&["apply", "-n", "shop-"]), ["shop-test"]);
    assert_eq!(offered(&["apply", "--namespace=shop-"]), ["shop-test"]);
    assert_eq!(offered(&["diff", "--report-unmanaged=shop,shop-"]), ["shop,shop-test"]);
    assert_eq!(offered(&["apply", "--adopt", "helm,ha"]), ["helm,hand"]);
    assert_eq!(offered(&["diff", "--from", "helm/p"]), ["helm/pay"]);
    assert_eq!(offered(&["diff", "--from=la"]), ["last-applied"]);
    assert_eq!(offered(&["diff", "--from", "last-applied", "--kinds", "deployments,in"]), ["deployments,ingresses"]);
    assert_eq!(offered(&["apply", "--prune", "--applyset", "conf"]), ["configmap/web"]);
}

/// A shell would run, expand or act on these.
#[test]
fn names_with_other_than_harmless_characters_are_left_out() {
    let commands = [
        "$(touch x)",
        "`touch x`",
        "a;touch x",
        "a&b",
        "a|b",
        "a>b",
        "${x}",
        "a b",
        "*",
        "a?",
        "[a]",
        "~",
        "!!",
        "#a",
        "'",
        "\"",
        "\\",
        "{a,b}",
        "^a",
        "(a)",
    ];
    let flags = ["--token=a", "-v", "=ls"];
    // A kubeconfig may have a context without a name.
    let forged = ["", "bad\nforged", "bad\tforged", "bad\x1b[31m", "bad\u{202e}", "ad\u{ad}min", "ä"];
    let contexts = [&["good"][..], &commands, &flags, &forged].concat();
    for word in ["-", "-v", "$", "a"] {
        let known: &[(Source, &[&str])] = &[(Source::Managers, &contexts)];
        let offered = candidates_of(&["apply", "--adopt", word], known).0;
        assert!(!offered.iter().any(|name| contexts.contains(&name.as_str())), "{word}: {offered:?}");
    }
    let known: &[(Source, &[&str])] = &[(Source::Contexts, &contexts)];
    assert_eq!(candidates_of(&["diff", "--context", ""], known), (vec!["good".to_owned()], NO_FILES));
    assert_eq!(candidates_of(&["diff", "--context="], known), (vec!["good".to_owned()], NO_FILES));
}

/// A new flag is a decision: what can its value be?
#[test]
fn every_flag_without_listed_values_is_decided_about() {
    const FREE: &[&str] = &[
        "as",
        "as-group",
        "as-uid",
        "as-user-extra",
        "field",
        "name",
        "object",
        "selector",
        "server",
        "shard",
        "since",
        "subject",
        "tls-server-name",
        "token",
        "v",
        "words",
    ];
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        for arg in command.get_arguments() {
            if source_of(arg) == Some(Source::Free) {
                let name = arg.get_long().unwrap_or(arg.get_id().as_str());
                assert!(FREE.contains(&name), "where do the values of `{name}` of `{}` come from?", command.get_name());
            }
        }
        commands.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn the_connection_is_read_from_an_unfinished_line() {
    let read = |words: &[&str]| {
        connection_of(&Cli::command(), &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    };
    let connection = read(&["diff", "--context", "prod", "--nonsense", "--kubeconfig=x", "-n", ""]).unwrap();
    assert_eq!(connection.context.as_deref(), Some("prod"));
    assert_eq!(connection.kubeconfig.as_deref(), Some(std::path::Path::new("x")));
    assert!(read(&["apply", "--wait", "-n", ""]).is_some(), "`-f` may follow");
    assert!(read(&["completion", ""]).is_none());
    assert!(read(&["man", ""]).is_none());
    assert!(read(&[""]).is_none());
}
