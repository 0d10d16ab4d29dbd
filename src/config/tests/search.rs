//! The search for a configuration, and the owners whose files it takes.

use std::ffi::OsStr;
use std::path::Path;

use crate::config::ConfigOrigin;
use crate::config::found::search;

fn found(inputs: &[&Path]) -> Result<Option<(String, ConfigOrigin)>, String> {
    let inputs: Vec<&OsStr> = inputs.iter().map(|path| path.as_os_str()).collect();
    let search = search(&inputs).map_err(|failure| failure.diagnostics[0].to_string())?;
    Ok(search.found.map(|(path, origin)| (path.canonicalize().unwrap().to_string_lossy().into_owned(), origin)))
}

fn write(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "").unwrap();
}

#[test]
fn the_nearest_file_up_to_the_root_of_the_repository_is_found_and_none_beyond_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let outside = root.join(".kubectl-reconcile.yaml");
    let repository = root.join("repository");
    let deep = repository.join("a/b");
    let manifest = repository.join("a/b/web.yaml");
    write(&outside);
    write(&manifest);
    let text = |path: &Path, origin| Ok(Some((path.to_string_lossy().into_owned(), origin)));
    let none = |inputs: &[&Path]| found(inputs).unwrap().is_none_or(|(path, _)| !Path::new(&path).starts_with(&root));
    assert!(none(&[&manifest]), "without a repository, only the folder itself counts");
    std::fs::create_dir_all(repository.join(".git")).unwrap();
    assert!(none(&[&manifest]), "never beyond the root of the repository");
    let at_root = repository.join(".kubectl-reconcile.yaml");
    write(&at_root);
    assert_eq!(found(&[&manifest]), text(&at_root, ConfigOrigin::AboveManifests));
    assert_eq!(found(&[&deep]), text(&at_root, ConfigOrigin::AboveManifests));
    assert_eq!(found(&[&deep.join("*.yaml")]), text(&at_root, ConfigOrigin::AboveManifests));
    let between = repository.join("a/.kubectl-reconcile.yaml");
    write(&between);
    assert_eq!(found(&[&deep]), text(&between, ConfigOrigin::AboveManifests), "the nearest one");
    assert_eq!(found(&[&repository.join("a")]), text(&between, ConfigOrigin::NextToManifests));
    write(&repository.join("c/web.yaml"));
    assert!(found(&[&deep, &repository.join("c")]).unwrap_err().contains("two configuration files"));
    assert_eq!(
        found(&[&repository.join("c"), &repository.join("c/web.yaml")]),
        text(&at_root, ConfigOrigin::AboveManifests)
    );
    std::fs::create_dir_all(repository.join("a/b/.git")).unwrap();
    assert!(none(&[&manifest]), "a repository in a repository ends the search");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_repository_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let manifest = root.join("repository/web.yaml");
    let secret = root.join("secret");
    write(&manifest);
    write(&secret);
    std::fs::create_dir_all(root.join("repository/.git")).unwrap();
    std::os::unix::fs::symlink(&secret, root.join("repository/.kubectl-reconcile.yaml")).unwrap();
    let search = search(&[manifest.as_os_str()]).unwrap();
    assert!(search.warnings[0].contains("it is a link to a file outside the repository"), "{:?}", search.warnings);
    assert!(search.found.is_none_or(|(path, _)| !path.starts_with(&root)));
    write(&root.join("repository/team/config.yaml"));
    std::fs::remove_file(root.join("repository/.kubectl-reconcile.yaml")).unwrap();
    std::os::unix::fs::symlink("team/config.yaml", root.join("repository/.kubectl-reconcile.yaml")).unwrap();
    assert_eq!(found(&[&manifest]).unwrap().unwrap().1, ConfigOrigin::NextToManifests, "a link inside it does");
}

#[cfg(unix)]
#[test]
fn what_has_the_name_of_a_configuration_and_is_no_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let manifest = root.join("web.yaml");
    let file = root.join(".kubectl-reconcile.yaml");
    write(&manifest);
    let warnings = || {
        let search = search(&[manifest.as_os_str()]).unwrap();
        assert!(search.found.is_none_or(|(path, _)| !path.starts_with(&root)));
        search.warnings
    };
    let because = |reason: &str| vec![format!("the configuration {} is not used, because {reason}", file.display())];
    assert_eq!(warnings(), Vec::<String>::new());
    std::os::unix::fs::symlink(root.join("gone"), &file).unwrap();
    assert_eq!(warnings(), because("it is a link to a file that does not exist"));
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&file, &file).unwrap();
    assert_eq!(warnings(), because("it cannot be read"));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(warnings(), because("it is a folder"));
    std::fs::remove_dir(&file).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(&file).unwrap();
    assert_eq!(warnings(), because("it is not a regular file"));
}

/// Only root can give files away.
#[cfg(unix)]
#[test]
fn a_file_of_another_user_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let manifest = root.join("web.yaml");
    let file = root.join(".kubectl-reconcile.yaml");
    write(&manifest);
    write(&file);
    if std::os::unix::fs::chown(&file, Some(4242), None).is_err() {
        return;
    }
    let other = search(&[manifest.as_os_str()]).unwrap();
    assert!(other.found.is_none_or(|(path, _)| !path.starts_with(&root)));
    assert!(other.warnings[0].contains("it belongs to another user"), "{:?}", other.warnings);
    std::os::unix::fs::chown(&manifest, Some(4242), None).unwrap();
    assert_eq!(
        found(&[&manifest]).unwrap().unwrap().1,
        ConfigOrigin::NextToManifests,
        "who owns the manifests decides anyway"
    );
}
