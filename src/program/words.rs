/// Splits a command line into words as a shell does (POSIX, "Quoting"), without anything else that a shell knows: no variables,
/// no commands, no globs.
pub fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a quote is not closed")? {
                        '\'' => break,
                        c => quoted.push(c),
                    }
                }
            }
            '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a quote is not closed")? {
                        '"' => break,
                        '\\' => match chars.next().ok_or("a quote is not closed")? {
                            c @ ('"' | '\\' | '$' | '`') => quoted.push(c),
                            c => quoted.extend(['\\', c]),
                        },
                        c => quoted.push(c),
                    }
                }
            }
            // On Windows, a backslash separates folders.
            '\\' if !cfg!(windows) => {
                word.get_or_insert_default().push(chars.next().ok_or("nothing follows the last backslash")?);
            }
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_as_a_shell_splits_them() {
        for (text, expected) in [
            ("", &[][..]),
            ("  diff   -u -N\t", &["diff", "-u", "-N"]),
            ("dyff between --omit-header", &["dyff", "between", "--omit-header"]),
            ("'/opt/my tools/diff' --label='a b'", &["/opt/my tools/diff", "--label=a b"]),
            (r#"diff --color=always -I "^ *#" "a\"b\n""#, &["diff", "--color=always", "-I", "^ *#", "a\"b\\n"]),
            ("diff '' \"\"", &["diff", "", ""]),
            ("diff $HOME `x` a;b", &["diff", "$HOME", "`x`", "a;b"]),
            (" less -FRX  '+/a b' ", &["less", "-FRX", "+/a b"]),
            ("\"/my programs/less\" ''", &["/my programs/less", ""]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        #[cfg(unix)]
        assert_eq!(words(r"my\ diff \'").unwrap(), ["my diff", "'"]);
        for broken in ["'a", "\"a", "\"a\\"] {
            assert!(words(broken).is_err(), "{broken}");
        }
    }
}
