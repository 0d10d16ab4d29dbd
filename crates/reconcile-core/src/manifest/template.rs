//! The template from which Helm rendered a document.

use std::sync::Arc;

use crate::text::visible;

/// Longest path of a template, in bytes.
const LONGEST: usize = 512;

/// Reads the comment that `helm template` and `helm get manifest` print above a document: `Source: CHART/templates/FILE`. The path
/// is only shown. A text that cannot be such a path, or has characters that nobody sees, is no template.
pub(super) fn template(comment: &str) -> Option<Arc<str>> {
    let path = comment.strip_prefix("Source:")?.trim();
    let is_name = |name: &str| !matches!(name, "" | "." | "..");
    let is_of_chart = path.split('/').skip(1).any(|name| matches!(name, "templates" | "crds"));
    let is_path = path.len() <= LONGEST && path.split('/').all(is_name) && !path.contains([':', '\\']);
    (is_of_chart && is_path && visible(path) == path).then(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_charts_are_templates() {
        for path in ["pay/templates/web.yaml", "pay/charts/redis/templates/a/b.yaml", "pay/crds/a.yaml"] {
            assert_eq!(template(&format!("Source: {path}")).as_deref(), Some(path));
        }
        let long = format!("Source: pay/templates/{}", "a".repeat(LONGEST));
        for comment in [
            "Source:",
            "source: pay/templates/web.yaml",
            "see pay/templates/web.yaml",
            "Source: https://example.com/templates/web.yaml",
            "Source: /etc/templates/web.yaml",
            "Source: ../pay/templates/web.yaml",
            "Source: pay/templates/../../web.yaml",
            "Source: templates/web.yaml",
            "Source: pay/web.yaml",
            "Source: pay/templates/a\u{202e}b.yaml",
            "Source: pay/templates/\u{1b}[2J",
            "Source: pay/templates/##vso[task.complete]",
            &long,
        ] {
            assert_eq!(template(comment), None, "{comment:?}");
        }
    }
}
