//! The content security policy of the page: the browser may use its style sheet and run its script, both allowed by their hash,
//! and load nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

/// The content security policy of a page with this style sheet and this script.
pub(super) fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())));
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'",
        hash(style),
        hash(script)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of a script is an example of the specification, CSP Level 3, 6.7.3.3.
    #[test]
    fn hashes_are_those_of_the_specification() {
        let policy = policy("", "alert('Hello, world.');");
        assert!(policy.contains("script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"), "{policy}");
        assert!(policy.contains("style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"), "{policy}");
    }
}
