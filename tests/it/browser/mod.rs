//! The page of `-o html` in a real browser: clicks, search, keyboard, print, accessibility, hostile text, 5,000 objects.
//! The tests of the page itself are written in `tests/browser`; here are the pages, and what it takes to run them.

mod installed;
mod pages;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use installed::installed;

#[test]
fn the_page_works_in_a_browser() {
    let installed = installed().unwrap_or_else(|problem| panic!("{problem}"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    let pictures = scratch.join("pictures");
    fs::create_dir_all(&pictures).unwrap();
    pages::write(&scratch);

    let run = Command::new("node")
        .arg(root.join("tests/browser/page.test.mjs"))
        .args([&installed, &scratch, &pictures])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(run.status.success(), "{}{}", said(&run.stdout), said(&run.stderr));
    let tests = said(&run.stdout).lines().filter(|line| line.starts_with("ok ") || line.contains('✔')).count();
    assert!(tests >= 20, "{tests} tests ran: {}", said(&run.stdout));
}
