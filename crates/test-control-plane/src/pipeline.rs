//! The commands that the runners of pipelines find in what a job prints, by the rules of their published sources.

/// All commands in an output: those of GitHub Actions, Azure Pipelines and `TeamCity`, and the section markers of GitLab.
///
/// .NET compares texts by their order in the alphabet, where control characters and some others have no weight. So each line is also
/// read without all characters that may have none.
pub fn pipeline_commands(output: &str) -> Vec<String> {
    let mut found: Vec<String> = sections(output).collect();
    for line in output.split(['\n', '\r']) {
        let weighty: String = line.chars().filter(|c| matches!(c, ' '..='~') || c.is_alphanumeric()).collect();
        for line in [line, &weighty] {
            let commands = [github(line), github_v1(line), azure(line), teamcity(line)];
            found.extend(commands.into_iter().flatten().map(ToOwned::to_owned));
        }
    }
    found.dedup();
    found
}

/// `::name key=value::data` at the start of a line (actions/runner, `src/Runner.Common/ActionCommand.cs`, `TryParseV2`). Any name may be
/// registered, as a workflow chooses the token that `stop-commands` ends with.
fn github(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("::")?.contains("::").then_some(line)
}

/// `##[name key=value]data` anywhere (the same file, `TryParse`). Azure Pipelines formats lines that begin with it.
fn github_v1(line: &str) -> Option<&str> {
    between(line, "##[")
}

/// `##vso[area.event key=value]data` anywhere (azure-pipelines-agent, `src/Microsoft.VisualStudio.Services.Agent/Command.cs`,
/// `TryParse`).
fn azure(line: &str) -> Option<&str> {
    between(line, "##vso[")
}

/// `##teamcity[name 'value']` anywhere (from the documentation of service messages; not compared with a parser's source).
fn teamcity(line: &str) -> Option<&str> {
    between(line, "##teamcity[")
}

fn between<'l>(line: &'l str, prefix: &str) -> Option<&'l str> {
    let command = &line[line.find(prefix)?..];
    command.contains(']').then_some(command)
}

/// `section_start:1700000000:name[options]` or `section_end:…`, a carriage return, and the sequence that erases a line (from
/// the documentation of GitLab's job logs; not compared with a parser's source).
fn sections(output: &str) -> impl Iterator<Item = String> {
    let ends = output.match_indices("\r\u{1b}[0K").map(|(at, _)| &output[..at]);
    ends.filter_map(|before| {
        let marker = &before[before.rfind("section_start:").into_iter().chain(before.rfind("section_end:")).max()?..];
        let (_, rest) = marker.split_once(':')?;
        let (time, name) = rest.split_once(':')?;
        let is_marker = time.bytes().all(|byte| byte.is_ascii_digit()) && !name.contains(char::is_whitespace);
        (is_marker && !time.is_empty()).then(|| marker.to_owned())
    })
}

#[test]
fn commands_are_found_as_runners_find_them() {
    for line in [
        "::add-mask::x",
        "  \u{a0}::error file=a,line=1::x",
        "a ##[stop-commands]t",
        "a ##vso[task.setvariable variable=a]b",
        "a ##teamcity[buildStatus status='SUCCESS']",
        "a #\u{ad}#\u{1b}[x]",
        "section_start:1700000000:a[collapsed=true]\r\u{1b}[0Kb",
        "section_end:1700000000:a\r\u{1b}[0K",
    ] {
        assert!(!pipeline_commands(&format!("first\n{line}\nlast")).is_empty(), "{line:?}");
    }
    let harmless = "a ::b::\n## [1]\n##[\n#[a]\nsection_start:1:a\r\n::a\n\u{1b}[1m# a\u{1b}[0m\n";
    assert_eq!(pipeline_commands(harmless), [""; 0]);
}
