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
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "diff" -d 'Show what differs; exit 1 when something does'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "apply" -d 'Make the cluster as the manifests say, in one pass that can be repeated'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "status" -d 'Show how far the live objects are on their way to being ready; exit 5 when one isn\'t'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "snapshot" -d 'Capture the live objects for an offline `diff --live FILE`'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "completion" -d 'Print a completion script'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "man" -d 'Print the manual page, of one command or of the whole program'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_needs_command" -f -a "__complete" -d 'Answer what kubectl asks for `kubectl reconcile <TAB>`: candidates, a line each'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s k -l kustomize -d 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s l -l selector -d 'Only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l validate -d 'What is refused: input that kubectl would read with a loss (strict), or only what can\'t be read at all' -r -f -a "strict\t'Refuse it'
warn\t'Read it as kubectl does, and warn'
ignore\t'Read it as kubectl does'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l field-manager -d 'Name under which fields are owned' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l evidence -d 'How a verdict is come by: prove, else ask the server (auto); ask for every object (server); never send a PATCH, and compare here what can\'t be proven (read-only)' -r -f -a "auto\t'Prove; where that fails, ask; where that isn\'t possible, compare here'
server\t'Ask the server about every object'
read-only\t'Never send a PATCH'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l force-conflicts -d 'What may be taken from other owners: what hands changed, everything (also when no value is given), or nothing' -r -f -a "by-hand\t'What kubectl and its commands changed'
all\t'Whatever other appliers and controllers own, too'
none\t'Nothing'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l replace -d 'What is done where a field that can\'t be changed differs: nothing, or the object is deleted and created anew' -r -f -a "never\t'Tell, and leave the object alone'
immutable\t'Delete the object and create it anew'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l adopt -d 'Field managers whose claims on the fields of the manifests pass to us, such as `helm,kubectl`; apply sets that these tools keep are continued' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l config -d 'Configuration instead of the `.kubectl-reconcile.yaml` beside the manifests or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l applyset -d 'Apply set to join and to prune, by its parent: a Secret, or as in `configmap/NAME` an object of another kind' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l timeout -d 'With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l live -d 'Compare with the objects captured in this file instead of a cluster (an empty file: nothing exists)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s o -l output -d '`text` or `json`, to a file with `=FILE` (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l color -d 'When text is coloured' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set; elsewhere when `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s v -l v -d 'Tell more on stderr: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l context -d 'Context of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l cluster -d 'Cluster of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l user -d 'User of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s n -l namespace -d 'Namespace of objects that name none; objects that name another are refused' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l token -d 'Bearer token' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l as-user-extra -d 'Extra of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l client-certificate -d 'Client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l client-key -d 'Client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: the connection is open to attack' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l tls-server-name -d 'Name that the server\'s certificate is checked for' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l disable-compression -d 'Ask for uncompressed answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l cache-dir -d 'Where types of custom resources are kept between runs [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l request-timeout -d 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s R -l recursive -d 'Read the subdirectories of directories, too'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l allow-empty -d 'Having nothing to do is fine'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l show-unmanaged -d 'Show fields that others added, too'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l strict-ownership -d 'Count it as drift when values are equal and only not all of them are recorded as ours'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l prune -d 'Delete the members of the apply set that no manifest names any more, once the pass is complete'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l applyset-recover -d 'Also delete members that the parent of the apply set does not list, wherever in the cluster they are: without this flag they are only shown. Namespaces and CustomResourceDefinitions found that way are never deleted'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l apply -d 'Apply the difference, as `apply` does'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l confirm -d 'With `--apply`: ask on the terminal before anything is written'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l wait -d 'With `--apply`: wait until everything is ready'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -l exit-zero -d 'Exit 0 although there is drift'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s q -l quiet -d 'Print no text; reports that were asked for stay'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s k -l kustomize -d 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s l -l selector -d 'Only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l validate -d 'What is refused: input that kubectl would read with a loss (strict), or only what can\'t be read at all' -r -f -a "strict\t'Refuse it'
warn\t'Read it as kubectl does, and warn'
ignore\t'Read it as kubectl does'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l field-manager -d 'Name under which fields are owned' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l evidence -d 'How a verdict is come by: prove, else ask the server (auto); ask for every object (server); never send a PATCH, and compare here what can\'t be proven (read-only)' -r -f -a "auto\t'Prove; where that fails, ask; where that isn\'t possible, compare here'
server\t'Ask the server about every object'
read-only\t'Never send a PATCH'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l force-conflicts -d 'What may be taken from other owners: what hands changed, everything (also when no value is given), or nothing' -r -f -a "by-hand\t'What kubectl and its commands changed'
all\t'Whatever other appliers and controllers own, too'
none\t'Nothing'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l replace -d 'What is done where a field that can\'t be changed differs: nothing, or the object is deleted and created anew' -r -f -a "never\t'Tell, and leave the object alone'
immutable\t'Delete the object and create it anew'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l adopt -d 'Field managers whose claims on the fields of the manifests pass to us, such as `helm,kubectl`; apply sets that these tools keep are continued' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l config -d 'Configuration instead of the `.kubectl-reconcile.yaml` beside the manifests or in the working directory' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l applyset -d 'Apply set to join and to prune, by its parent: a Secret, or as in `configmap/NAME` an object of another kind' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l dry-run -d 'Only show what would be done, as `diff` does and with its exit codes' -r -f -a "server\t'Ask the server what would happen'
client\t'Ask nothing, and compare here what can\'t be proven, as `--evidence=read-only` does'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l timeout -d 'With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s o -l output -d '`text` or `json`, to a file with `=FILE` (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l color -d 'When text is coloured' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set; elsewhere when `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s v -l v -d 'Tell more on stderr: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l context -d 'Context of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l cluster -d 'Cluster of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l user -d 'User of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s n -l namespace -d 'Namespace of objects that name none; objects that name another are refused' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l token -d 'Bearer token' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l as-user-extra -d 'Extra of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l client-certificate -d 'Client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l client-key -d 'Client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: the connection is open to attack' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l tls-server-name -d 'Name that the server\'s certificate is checked for' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l disable-compression -d 'Ask for uncompressed answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l cache-dir -d 'Where types of custom resources are kept between runs [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l request-timeout -d 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s R -l recursive -d 'Read the subdirectories of directories, too'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l allow-empty -d 'Having nothing to do is fine'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l show-unmanaged -d 'Show fields that others added, too'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l strict-ownership -d 'Count it as drift when values are equal and only not all of them are recorded as ours'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l prune -d 'Delete the members of the apply set that no manifest names any more, once the pass is complete'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l applyset-recover -d 'Also delete members that the parent of the apply set does not list, wherever in the cluster they are: without this flag they are only shown. Namespaces and CustomResourceDefinitions found that way are never deleted'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l confirm -d 'Show what would be done, and ask on the terminal before anything is written'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -l wait -d 'Wait until everything is ready; the first failure that can\'t pass ends it'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s q -l quiet -d 'Print no text; reports that were asked for stay'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s k -l kustomize -d 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s l -l selector -d 'Only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l validate -d 'What is refused: input that kubectl would read with a loss (strict), or only what can\'t be read at all' -r -f -a "strict\t'Refuse it'
warn\t'Read it as kubectl does, and warn'
ignore\t'Read it as kubectl does'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l timeout -d 'With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s o -l output -d '`text` or `json`, to a file with `=FILE` (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l color -d 'When text is coloured' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set; elsewhere when `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s v -l v -d 'Tell more on stderr: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l context -d 'Context of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l cluster -d 'Cluster of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l user -d 'User of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s n -l namespace -d 'Namespace of objects that name none; objects that name another are refused' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l token -d 'Bearer token' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l as-user-extra -d 'Extra of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l client-certificate -d 'Client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l client-key -d 'Client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: the connection is open to attack' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l tls-server-name -d 'Name that the server\'s certificate is checked for' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l disable-compression -d 'Ask for uncompressed answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l cache-dir -d 'Where types of custom resources are kept between runs [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l request-timeout -d 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s R -l recursive -d 'Read the subdirectories of directories, too'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l allow-empty -d 'Having nothing to do is fine'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -l wait -d 'Wait until everything is ready; the first failure that can\'t pass ends it'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s q -l quiet -d 'Print no text; reports that were asked for stay'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s f -l filename -d 'File, directory, glob, URL, or `-` for standard input (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s k -l kustomize -d 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s l -l selector -d 'Only manifests whose labels match, such as `app=web,tier in (a, b)`' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l validate -d 'What is refused: input that kubectl would read with a loss (strict), or only what can\'t be read at all' -r -f -a "strict\t'Refuse it'
warn\t'Read it as kubectl does, and warn'
ignore\t'Read it as kubectl does'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l file -d 'Write to this file instead of stdout' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l color -d 'When text is coloured' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set; elsewhere when `CLICOLOR_FORCE` is set'
always\t'Always'
never\t'Never'"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s v -l v -d 'Tell more on stderr: repeated requests from 1, every request from 6' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l kubeconfig -d 'Path to the kubeconfig file' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l context -d 'Context of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l cluster -d 'Cluster of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l user -d 'User of the kubeconfig to use' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s n -l namespace -d 'Namespace of objects that name none; objects that name another are refused' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s s -l server -d 'URL of the API server' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l token -d 'Bearer token' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as -d 'User to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as-group -d 'Group to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as-uid -d 'UID to impersonate' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l as-user-extra -d 'Extra of the user to impersonate (repeatable)' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l certificate-authority -d 'Certificate authority of the API server' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l client-certificate -d 'Client certificate' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l client-key -d 'Client key' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l insecure-skip-tls-verify -d 'Don\'t check the server\'s certificate: the connection is open to attack' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l tls-server-name -d 'Name that the server\'s certificate is checked for' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l disable-compression -d 'Ask for uncompressed answers' -r -f -a "true\t''
false\t''"
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l cache-dir -d 'Where types of custom resources are kept between runs [default: ~/.kube/cache]' -r -F
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l request-timeout -d 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence' -r
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s R -l recursive -d 'Read the subdirectories of directories, too'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l allow-empty -d 'Having nothing to do is fine'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -l include-secrets -d 'Keep the values of Secrets; a file is then readable by its owner only'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-reconcile -n "__fish_kubectl_reconcile_using_subcommand man" -s h -l help -d 'Print help'
