//! `--kuberc` as kubectl reads it.

use std::ffi::OsStr;

const FLAG: &str = "--kuberc";

/// Leaves out the values of `--kuberc` that do not count: kubectl looks at the first one only, and an empty one in an argument of its own is
/// none (`getExplicitKuberc` in `kubectl/pkg/kuberc`). `--kuberc=` is a mistake.
pub(crate) fn first_kuberc<T: AsRef<OsStr>>(arguments: Vec<T>) -> Vec<T> {
    let mut kept = Vec::with_capacity(arguments.len());
    let mut has_value = false;
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let text = argument.as_ref();
        if text == "--" {
            kept.push(argument);
            break;
        }
        let is_apart = text == FLAG;
        if !is_apart && !text.to_string_lossy().starts_with("--kuberc=") {
            kept.push(argument);
            continue;
        }
        let value = if is_apart { rest.next() } else { None };
        let is_empty = value.as_ref().is_some_and(|value| value.as_ref().is_empty());
        if !has_value && !is_empty {
            kept.push(argument);
            kept.extend(value);
        }
        has_value = true;
    }
    kept.extend(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_counts_and_an_empty_one_is_none() {
        for (typed, kept) in [
            ("diff --kuberc=a -f x", "diff --kuberc=a -f x"),
            ("diff --kuberc a --kuberc=b -f x --kuberc c", "diff --kuberc a -f x"),
            ("diff --kuberc=a --kuberc=", "diff --kuberc=a"),
            ("diff --kuberc= --kuberc=a", "diff --kuberc="),
            ("diff --kuberc '' -f x", "diff -f x"),
            ("diff --kuberc '' --kuberc=a", "diff"),
            ("diff --kuberc", "diff --kuberc"),
            ("diff --kubercs=a --kuberc-x=b", "diff --kubercs=a --kuberc-x=b"),
            ("diff --kuberc=a -- --kuberc=b", "diff --kuberc=a -- --kuberc=b"),
        ] {
            let words = typed.split(' ').map(|word| if word == "''" { "" } else { word }).collect();
            assert_eq!(first_kuberc::<&str>(words).join(" "), kept, "{typed}");
        }
    }
}
