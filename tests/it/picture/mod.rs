//! The picture in the README is what the program prints: drawn from a run, and compared with the one that is kept.

mod ansi;
mod svg;

use std::fs;
use std::path::Path;
use std::process::Command;

/// Columns of the terminal in the picture.
const COLUMNS: usize = 100;

/// `UPDATE_PICTURES=1 cargo test --test it picture` redraws it.
#[test]
fn the_picture_in_the_readme_is_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new(env!("CARGO_BIN_EXE_kubectl-reconcile"))
        .args(["diff", "-f", "shop", "--live", "shop.live.yaml", "--color=always"])
        .current_dir(root.join("testdata"))
        .env_clear()
        .env("COLUMNS", COLUMNS.to_string())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let command = "\u{1b}[2m$\u{1b}[0m kubectl reconcile diff -f shop --live shop.live.yaml\n";
    let printed = format!("{command}{}", String::from_utf8(run.stdout).unwrap());
    let drawn = svg::draw(&ansi::lines(&printed), COLUMNS);
    let place = root.join("docs/pictures/diff.svg");
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        fs::write(&place, &drawn).unwrap();
    }
    let kept = fs::read_to_string(&place).unwrap_or_default();
    assert!(kept == drawn, "{} is out of date: run `UPDATE_PICTURES=1 cargo test --test it picture`", place.display());
}
