use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::pull::kustomize::tree::{Level, Tree};

const FILES: [(&str, &str); 4] = [
    (
        "/r/k/kustomization.yaml",
        "resources: [s.yaml, nope.yaml, ../base, far/off/x.yaml, 'https://me:pw@host/x?ref=hunter2']
namePrefix: my-
resourcez: [x]
patches:
- {path: p.yaml}
- target: {kind: Secret}
  patch: '[{\"op\": replace, \"path\": /stringData/nope, \"value\": hunter2}]'
secretGenerator:
- name: gen
  literals: [password=hunter2]
  files: [a=hunter2, p.env]
",
    ),
    (
        "/r/k/s.yaml",
        "apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {url: hunter2, name: hunter2}
",
    ),
    ("/r/k/p.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"),
    ("/r/k/p.env", "{kind: hunter2}"),
];

fn names() -> Names {
    let bytes = |(file, text): (&str, &str)| (file.to_owned(), Arc::from(text.as_bytes()));
    let files: BTreeMap<_, _> = FILES.into_iter().map(bytes).collect();
    let value = kube_yaml::read(FILES[0].1.as_bytes(), kube_yaml::Validation::Warn).documents.remove(0).value;
    let levels = vec![Level::new("/r/k".to_owned(), FILES[0].0.to_owned(), value)];
    let taken = FILES.into_iter().map(|(file, _)| file.to_owned()).collect();
    Names::of("k", &Tree { levels, files, taken, ..Tree::default() }.with_affixes())
}

/// A message of which everything is known is repeated as it is.
#[test]
fn files_objects_fields_and_lines_are_told() {
    let names = names();
    let missing = "Error: accumulating resources: accumulation err='accumulating resources from 'nope.yaml': evalsymlink failure on '/r/k/nope.yaml' : lstat /r/k/nope.yaml: no such file or directory': must build at directory: not a valid directory: evalsymlink failure on '/r/k/nope.yaml' : lstat /r/k/nope.yaml: no such file or directory";
    for message in [
        missing,
        "error: accumulating resources: accumulation err='accumulating resources from '../base': evalsymlink failure on '/r/base' : lstat /r/base: no such file or directory'",
        "accumulating resources from '../base': '/r/base' must resolve to a file': couldn\x27t make target for path '/r/base'",
        "lstat /r/k/far: no such file or directory",
        "Error: invalid Kustomization: json: unknown field \"resourcez\"",
        "Error: invalid Kustomization: yaml: line 2: found character that cannot start any token",
        "Error: invalid Kustomization: json: cannot unmarshal string into Go struct field Kustomization.resources of type []string",
        "Error: accumulating resources: accumulating resources from 's.yaml': MalformedYAMLError: yaml: line 6: mapping values are not allowed in this context in File: s.yaml",
        "Error: no resource matches strategic merge patch \"Deployment.v1.apps/web.[noNs]\": no matches for Id Deployment.v1.apps/web.[noNs]; failed to find unique target for patch Deployment.v1.apps/web.[noNs]",
        "Error: may not add resource with an already registered id: Secret.v1.[noGrp]/s.[noNs]",
        "Error: may not add resource with an already registered id: Secret.v1.[noGrp]/my-gen.[noNs]",
        "replace operation does not apply: doc is missing path: /stringData/nope: missing value",
        "accumulating resources from 'https://host/x?…': URL is a git repository",
        "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '/r/k'",
        "'bases' is deprecated. Please use 'resources' instead. Run 'kustomize edit fix' to update your Kustomization automatically.",
    ] {
        assert_eq!(said(message, &names), Said { text: message.to_owned(), is_whole: true });
    }
}

/// A value of a Secret has no way into the text, however it is quoted.
#[test]
fn everything_else_is_left_out() {
    let names = names();
    for (message, shown) in [
        (
            "Error: accumulating resources: accumulating resources from 's.yaml': MalformedYAMLError: yaml: unknown anchor 'hunter2' referenced in File: s.yaml",
            "Error: accumulating resources: accumulating resources from 's.yaml': MalformedYAMLError: yaml: unknown anchor … in File: s.yaml",
        ),
        (
            "Error: invalid Kustomization: yaml: unknown anchor 'hunter2' referenced",
            "Error: invalid Kustomization: yaml: unknown anchor …",
        ),
        (
            "Error: options.index 5 is out of bounds for value postgres://app:hunter2@db",
            "Error: options.index … is out of bounds for value …",
        ),
        (
            "MakePrimitiveReplacer: bad replacement type=map[string]interface {} val=map[url:postgres://app:hunter2@db]",
            "MakePrimitiveReplacer: bad replacement …",
        ),
        (
            "Error: map[string]interface {}(nil): yaml: unmarshal errors:\n  line 6: mapping key \"url\" already defined at line 5",
            "Error: … yaml: unmarshal errors: line 6: mapping key … already defined at line 5",
        ),
        (
            "Error: loading KV pairs: file sources: [a=hunter2]: evalsymlink failure on '/r/k/hunter2' : lstat /r/k/hunter2: no such file or directory",
            "Error: loading KV pairs: file sources … evalsymlink failure on … no such file or directory",
        ),
        (
            "Error: trouble configuring builtin PatchTransformer with config: `\npatch: hunter2\n`: unable to parse SM or JSON patch from [patch: \"hunter2\"]",
            "Error: trouble configuring builtin PatchTransformer with config … unable to parse SM or JSON patch from …",
        ),
        ("yaml: line 999999: hunter2", "yaml: line …"),
        ("yaml: unknown anchor 'base' referenced", "yaml: unknown anchor …"),
        ("accumulating resources from 's.yamlhunter2'", "accumulating resources from …"),
        ("accumulating resourceshunter2", ""),
        ("xaccumulating resources", ""),
        ("no matches for Id hunter2.v1.apps/web.[noNs]", "no matches for Id …"),
        ("no matches for Id Secret.v1.[noGrp]/hunter2.[noNs]", "no matches for Id …"),
        ("invalid Kustomization: json: unknown field \"hunter2\"", "invalid Kustomization: json: unknown field …"),
        ("read hunter2, I open hunter2", ""),
        ("hunter2", ""),
        ("hunter2\nError: kustomization.yaml is empty", "… Error: kustomization.yaml is empty"),
    ] {
        let said = said(message, &names);
        assert_eq!(said.text, shown, "{message}");
        assert!(!said.is_whole, "{message}");
        assert!(!format!("{said:?}").contains("hunter2"), "{said:?}");
    }
}

#[test]
fn a_long_message_is_looked_at_up_to_a_bound() {
    let text = "Error: accumulating resources: ".repeat(100_000);
    let said = said(&text, &names());
    assert!(!said.is_whole && said.text.len() < 70_000);
    assert_eq!(super::said("", &names()), Said { text: String::new(), is_whole: true });
}
