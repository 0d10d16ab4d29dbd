# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_reconcile_global_optspecs
    string join \n h/help V/version
end

function __fish_kubectl_reconcile_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_reconcile_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_reconcile_using_subcommand
    set -l cmd (__fish_kubectl_reconcile_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "diff" -d 'Show how the cluster differs from the manifests; exit with 1 if it does'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "apply" -d 'Make the cluster match the manifests; running it again changes nothing'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "status" -d 'Show whether the objects of the manifests are ready; exit with 5 if one is not'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "snapshot" -d 'Save the live objects for an offline `diff --live FILE`'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "access" -d 'Print the roles that `diff` and `apply` need; exit with 1 if the user lacks a permission'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "config" -d 'Show the configuration in force, or its JSON Schema'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "completion" -d 'Print a completion script'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "man" -d 'Print the manual page of the program or of one command'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "__complete" -d 'Print completion candidates for kubectl, one per line'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s k -l kustomize -d 'Kustomization directory to build with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s l -l selector -d 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l validate -d 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it' -r -f -a "strict\t'Reject it'
warn\t'Accept it as kubectl reads it, with a warning'
ignore\t'Accept it as kubectl reads it'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l config -d 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l field-manager -d 'Name of the field manager that applies and owns the fields of the manifests' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l evidence -d 'How to determine drift: prove it from the live object and ask the server only when needed (auto), always ask (server), or never send a PATCH and compare locally (read-only)' -r -f -a "auto\t'Prove it from the live object, or else ask the server, or else compare locally'
server\t'Ask the server about every object'
read-only\t'Prove it from the live object, or else compare locally; never send a PATCH'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l autoscalers -d 'What to do with what an autoscaler changes: leave it to the autoscaler (respect), or treat it like any other change (ignore)' -r -f -a "respect\t'Neither report nor reset the replicas of a workload that has a horizontal autoscaler (also of KEDA), and the resources that a vertical one sets'
ignore\t'Do not look for autoscalers'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l fail-on -d 'Exit with 1 only for these differences (repeatable) [default: drift]' -r -f -a "drift\t'Every difference that `apply` would resolve (the default)'
manual\t'Changes and additions by kubectl or a manager listed in `manualManagers`'
missing\t'Objects that do not exist'
pending\t'Fields that changed in the manifest'
changedByOther\t'Fields that another manager changed'
removedByOther\t'Fields that are not in the cluster'
pruned\t'Fields and objects that are no longer in the manifests'
reordered\t'Lists in another order'
conflict\t'Fields that another applier or a controller owns'
replace\t'Objects that would have to be replaced'
unmanaged\t'Fields that other managers added'
unmanagedObjects\t'Objects that `--report-unmanaged` finds'
adopted\t'Fields that are not yet owned by our field manager'
released\t'Fields that are no longer in the manifests, and that a co-owner keeps'
overridden\t'Fields of which the cluster keeps its own value'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l force-conflicts -d 'Which fields to take from other managers: manual changes (`manual`), all, or none; without a value, all' -r -f -a "manual\t'Fields changed with kubectl or by a manager listed in `manualManagers` of the configuration file'
all\t'Also fields of other appliers and of controllers'
none\t'No fields'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l replace -d 'What to do when an immutable field differs: report it, or delete and recreate the object' -r -f -a "never\t'Report the difference and leave the object unchanged'
immutable\t'Delete and recreate the object'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l adopt -d 'Field managers to take over from, such as `helm,kubectl`: their fields in the manifests become ours, and their apply sets are continued' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l applyset -d 'Apply set to join and prune, named by its parent object: a Secret, or another kind as in `configmap/NAME`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l timeout -d 'With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l report-unmanaged -d 'Also report objects of these namespaces that no manifest, owner or apply set explains; without a value, of the namespaces of the manifests' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l live -d 'Compare with the objects in this file instead of a cluster; an empty file means that no object exists' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s o -l output -d 'Output format, on standard output or in a file: `json=FILE` (repeatable)' -r -f -a "text\t'For people: the differences and a summary'
json\t'For programs: the complete report'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal unless `NO_COLOR` is set, and elsewhere if `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s v -l v -d 'Print details on standard error: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l context -d 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l cluster -d 'Kubeconfig cluster to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l user -d 'Kubeconfig user to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s n -l namespace -d 'Namespace for objects that do not set one; objects that set another are rejected' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as-user-extra -d 'Extra field of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l certificate-authority -d 'File with the certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l client-certificate -d 'File with the client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l client-key -d 'File with the client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate, which makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l tls-server-name -d 'Server name to expect in the server\'s certificate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l disable-compression -d 'Request uncompressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l cache-dir -d 'Directory for cached types of custom resources [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l request-timeout -d 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s R -l recursive -d 'Also read the subdirectories of directories'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l allow-empty -d 'Succeed even if no object is found or selected'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l no-config -d 'Use no configuration file'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l show-unmanaged -d 'Also show fields that other managers added'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l explain-ignores -d 'Also list what each ignore rule hid'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l strict-ownership -d 'Also report drift when values match but some fields are not yet owned by our field manager'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l prune -d 'Delete members of the apply set that are no longer in the manifests, after everything else has succeeded'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l applyset-recover -d 'Also delete members that the parent of the apply set does not list, in any namespace; without this flag they are only shown. Namespaces and CustomResourceDefinitions found this way are never deleted'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l apply -d 'Apply the differences, like `kubectl reconcile apply`'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l confirm -d 'With `--apply`: ask for confirmation on the terminal before writing'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l wait -d 'With `--apply`: wait until all objects are ready'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l exit-zero -d 'Exit with 0 even if there is drift'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l suggest-ignores -d 'Print, instead of the differences, a configuration with ignore rules that hide exactly them'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s q -l quiet -d 'Print no text; reports requested with `-o` are still written'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s k -l kustomize -d 'Kustomization directory to build with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s l -l selector -d 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l validate -d 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it' -r -f -a "strict\t'Reject it'
warn\t'Accept it as kubectl reads it, with a warning'
ignore\t'Accept it as kubectl reads it'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l config -d 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l field-manager -d 'Name of the field manager that applies and owns the fields of the manifests' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l evidence -d 'How to determine drift: prove it from the live object and ask the server only when needed (auto), always ask (server), or never send a PATCH and compare locally (read-only)' -r -f -a "auto\t'Prove it from the live object, or else ask the server, or else compare locally'
server\t'Ask the server about every object'
read-only\t'Prove it from the live object, or else compare locally; never send a PATCH'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l autoscalers -d 'What to do with what an autoscaler changes: leave it to the autoscaler (respect), or treat it like any other change (ignore)' -r -f -a "respect\t'Neither report nor reset the replicas of a workload that has a horizontal autoscaler (also of KEDA), and the resources that a vertical one sets'
ignore\t'Do not look for autoscalers'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l fail-on -d 'Exit with 1 only for these differences (repeatable) [default: drift]' -r -f -a "drift\t'Every difference that `apply` would resolve (the default)'
manual\t'Changes and additions by kubectl or a manager listed in `manualManagers`'
missing\t'Objects that do not exist'
pending\t'Fields that changed in the manifest'
changedByOther\t'Fields that another manager changed'
removedByOther\t'Fields that are not in the cluster'
pruned\t'Fields and objects that are no longer in the manifests'
reordered\t'Lists in another order'
conflict\t'Fields that another applier or a controller owns'
replace\t'Objects that would have to be replaced'
unmanaged\t'Fields that other managers added'
unmanagedObjects\t'Objects that `--report-unmanaged` finds'
adopted\t'Fields that are not yet owned by our field manager'
released\t'Fields that are no longer in the manifests, and that a co-owner keeps'
overridden\t'Fields of which the cluster keeps its own value'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l force-conflicts -d 'Which fields to take from other managers: manual changes (`manual`), all, or none; without a value, all' -r -f -a "manual\t'Fields changed with kubectl or by a manager listed in `manualManagers` of the configuration file'
all\t'Also fields of other appliers and of controllers'
none\t'No fields'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l replace -d 'What to do when an immutable field differs: report it, or delete and recreate the object' -r -f -a "never\t'Report the difference and leave the object unchanged'
immutable\t'Delete and recreate the object'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l adopt -d 'Field managers to take over from, such as `helm,kubectl`: their fields in the manifests become ours, and their apply sets are continued' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l applyset -d 'Apply set to join and prune, named by its parent object: a Secret, or another kind as in `configmap/NAME`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l dry-run -d 'Only show what would change, like `kubectl reconcile diff` and with its exit codes' -r -f -a "server\t'Ask the server what would change (if no value is given)'
client\t'Never send a PATCH, and compare locally, like `--evidence=read-only`'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l timeout -d 'With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s o -l output -d 'Output format, on standard output or in a file: `json=FILE` (repeatable)' -r -f -a "text\t'For people: the differences and a summary'
json\t'For programs: the complete report'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal unless `NO_COLOR` is set, and elsewhere if `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s v -l v -d 'Print details on standard error: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l context -d 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l cluster -d 'Kubeconfig cluster to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l user -d 'Kubeconfig user to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s n -l namespace -d 'Namespace for objects that do not set one; objects that set another are rejected' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as-user-extra -d 'Extra field of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l certificate-authority -d 'File with the certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l client-certificate -d 'File with the client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l client-key -d 'File with the client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate, which makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l tls-server-name -d 'Server name to expect in the server\'s certificate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l disable-compression -d 'Request uncompressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l cache-dir -d 'Directory for cached types of custom resources [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l request-timeout -d 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s R -l recursive -d 'Also read the subdirectories of directories'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l allow-empty -d 'Succeed even if no object is found or selected'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l no-config -d 'Use no configuration file'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l show-unmanaged -d 'Also show fields that other managers added'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l explain-ignores -d 'Also list what each ignore rule hid'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l strict-ownership -d 'Also report drift when values match but some fields are not yet owned by our field manager'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l prune -d 'Delete members of the apply set that are no longer in the manifests, after everything else has succeeded'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l applyset-recover -d 'Also delete members that the parent of the apply set does not list, in any namespace; without this flag they are only shown. Namespaces and CustomResourceDefinitions found this way are never deleted'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l confirm -d 'Show what would change, and ask for confirmation on the terminal before writing'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l wait -d 'Wait until all objects are ready; stop at the first failure that cannot recover'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s q -l quiet -d 'Print no text; reports requested with `-o` are still written'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s k -l kustomize -d 'Kustomization directory to build with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s l -l selector -d 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l validate -d 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it' -r -f -a "strict\t'Reject it'
warn\t'Accept it as kubectl reads it, with a warning'
ignore\t'Accept it as kubectl reads it'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l config -d 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l timeout -d 'With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s o -l output -d 'Output format, on standard output or in a file: `json=FILE` (repeatable)' -r -f -a "text\t'For people: the differences and a summary'
json\t'For programs: the complete report'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal unless `NO_COLOR` is set, and elsewhere if `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s v -l v -d 'Print details on standard error: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l context -d 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l cluster -d 'Kubeconfig cluster to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l user -d 'Kubeconfig user to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s n -l namespace -d 'Namespace for objects that do not set one; objects that set another are rejected' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as-user-extra -d 'Extra field of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l certificate-authority -d 'File with the certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l client-certificate -d 'File with the client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l client-key -d 'File with the client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate, which makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l tls-server-name -d 'Server name to expect in the server\'s certificate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l disable-compression -d 'Request uncompressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l cache-dir -d 'Directory for cached types of custom resources [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l request-timeout -d 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s R -l recursive -d 'Also read the subdirectories of directories'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l allow-empty -d 'Succeed even if no object is found or selected'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l no-config -d 'Use no configuration file'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l wait -d 'Wait until all objects are ready; stop at the first failure that cannot recover'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s q -l quiet -d 'Print no text; reports requested with `-o` are still written'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s k -l kustomize -d 'Kustomization directory to build with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s l -l selector -d 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l validate -d 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it' -r -f -a "strict\t'Reject it'
warn\t'Accept it as kubectl reads it, with a warning'
ignore\t'Accept it as kubectl reads it'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l config -d 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l file -d 'Write to this file instead of standard output' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal unless `NO_COLOR` is set, and elsewhere if `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s v -l v -d 'Print details on standard error: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l context -d 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l cluster -d 'Kubeconfig cluster to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l user -d 'Kubeconfig user to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s n -l namespace -d 'Namespace for objects that do not set one; objects that set another are rejected' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as-user-extra -d 'Extra field of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l certificate-authority -d 'File with the certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l client-certificate -d 'File with the client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l client-key -d 'File with the client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate, which makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l tls-server-name -d 'Server name to expect in the server\'s certificate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l disable-compression -d 'Request uncompressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l cache-dir -d 'Directory for cached types of custom resources [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l request-timeout -d 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s R -l recursive -d 'Also read the subdirectories of directories'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l allow-empty -d 'Succeed even if no object is found or selected'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l no-config -d 'Use no configuration file'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l include-secrets -d 'Include the values of Secrets; a file written with `--file` is then readable only by its owner'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s k -l kustomize -d 'Kustomization directory to build with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s l -l selector -d 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l validate -d 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it' -r -f -a "strict\t'Reject it'
warn\t'Accept it as kubectl reads it, with a warning'
ignore\t'Accept it as kubectl reads it'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l config -d 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l for -d 'Commands to print roles for' -r -f -a "diff\t'What `diff` needs'
apply\t'What `apply` needs'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l name -d 'Beginning of the names of the roles' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l evidence -d 'How `diff` determines drift: with `read-only`, it needs no permission to write' -r -f -a "auto\t'Prove it from the live object, or else ask the server, or else compare locally'
server\t'Ask the server about every object'
read-only\t'Prove it from the live object, or else compare locally; never send a PATCH'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l replace -d 'Whether `apply` deletes and recreates objects with immutable fields that differ' -r -f -a "never\t'Report the difference and leave the object unchanged'
immutable\t'Delete and recreate the object'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l applyset -d 'Apply set to join and prune, named by its parent object: a Secret, or another kind as in `configmap/NAME`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s o -l output -d 'How to print the roles, and what the user has of them' -r -f -a "yaml\t'For kubectl: the roles; what is missing is printed on standard error'
text\t'For people: what is allowed and what is missing'
json\t'For programs: the roles, and whether the user has each permission'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal unless `NO_COLOR` is set, and elsewhere if `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s v -l v -d 'Print details on standard error: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l context -d 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l cluster -d 'Kubeconfig cluster to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l user -d 'Kubeconfig user to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s n -l namespace -d 'Namespace for objects that do not set one; objects that set another are rejected' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l token -d 'Bearer token for the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l as-user-extra -d 'Extra field of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l certificate-authority -d 'File with the certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l client-certificate -d 'File with the client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l client-key -d 'File with the client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate, which makes the connection insecure' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l tls-server-name -d 'Server name to expect in the server\'s certificate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l disable-compression -d 'Request uncompressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l cache-dir -d 'Directory for cached types of custom resources [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l request-timeout -d 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s R -l recursive -d 'Also read the subdirectories of directories'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l allow-empty -d 'Succeed even if no object is found or selected'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l no-config -d 'Use no configuration file'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l by-name -d 'Restrict the roles to the objects of the manifests by their names, except creation, which RBAC cannot restrict'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l wait -d 'Include what `apply --wait` needs'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l prune -d 'Delete members of the apply set that are no longer in the manifests, after everything else has succeeded'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -l applyset-recover -d 'Also delete members that the parent of the apply set does not list, in any namespace; without this flag they are only shown. Namespaces and CustomResourceDefinitions found this way are never deleted'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand access" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and not __fish_seen_subcommand_from view schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and not __fish_seen_subcommand_from view schema" -f -a "view" -d 'Show the configuration in force and where it comes from'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and not __fish_seen_subcommand_from view schema" -f -a "schema" -d 'Print the JSON Schema of the configuration'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -s f -l filename -d 'File, directory or glob whose configuration to show (repeatable) [default: the working directory]' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -s k -l kustomize -d 'Kustomization directory whose configuration to show' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -l config -d 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -s o -l output -d 'Output format' -r -f -a "yaml\t'YAML, with where it comes from in comments'
json\t'JSON, with `file` and the place of each rule'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal unless `NO_COLOR` is set, and elsewhere if `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -s v -l v -d 'Print details on standard error: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -l no-config -d 'Use no configuration file'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from view" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand config; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand man" -s h -l help -d 'Print help'
