
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'kubectl-reconcile' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'kubectl-reconcile'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'kubectl-reconcile' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show how the cluster differs from the manifests; exit with 1 if it does')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Make the cluster match the manifests; running it again changes nothing')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show whether the objects of the manifests are ready; exit with 5 if one is not')
            [CompletionResult]::new('snapshot', 'snapshot', [CompletionResultType]::ParameterValue, 'Save the live objects for an offline `diff --live FILE`')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the configuration in force, or its JSON Schema')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page of the program or of one command')
            [CompletionResult]::new('__complete', '__complete', [CompletionResultType]::ParameterValue, 'Print completion candidates for kubectl, one per line')
            break
        }
        'kubectl-reconcile;diff' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory')
            [CompletionResult]::new('--field-manager', '--field-manager', [CompletionResultType]::ParameterName, 'Name of the field manager that applies and owns the fields of the manifests')
            [CompletionResult]::new('--evidence', '--evidence', [CompletionResultType]::ParameterName, 'How to determine drift: prove it from the live object and ask the server only when needed (auto), always ask (server), or never send a PATCH and compare locally (read-only)')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'Which fields to take from other managers: manual changes (`manual`), all, or none; without a value, all')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'What to do when an immutable field differs: report it, or delete and recreate the object')
            [CompletionResult]::new('--adopt', '--adopt', [CompletionResultType]::ParameterName, 'Field managers to take over from, such as `helm,kubectl`: their fields in the manifests become ours, and their apply sets are continued')
            [CompletionResult]::new('--applyset', '--applyset', [CompletionResultType]::ParameterName, 'Apply set to join and prune, named by its parent object: a Secret, or another kind as in `configmap/NAME`')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Compare with the objects in this file instead of a cluster; an empty file means that no object exists')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format, on standard output or in a file: `json=FILE` (repeatable)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format, on standard output or in a file: `json=FILE` (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra field of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate, which makes the connection insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Server name to expect in the server''s certificate')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Directory for cached types of custom resources [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Succeed even if no object is found or selected')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-unmanaged', '--show-unmanaged', [CompletionResultType]::ParameterName, 'Also show fields that other managers added')
            [CompletionResult]::new('--strict-ownership', '--strict-ownership', [CompletionResultType]::ParameterName, 'Also report drift when values match but some fields are not yet owned by our field manager')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'Delete members of the apply set that are no longer in the manifests, after everything else has succeeded')
            [CompletionResult]::new('--applyset-recover', '--applyset-recover', [CompletionResultType]::ParameterName, 'Also delete members that the parent of the apply set does not list, in any namespace; without this flag they are only shown. Namespaces and CustomResourceDefinitions found this way are never deleted')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Apply the differences, like `kubectl reconcile apply`')
            [CompletionResult]::new('--confirm', '--confirm', [CompletionResultType]::ParameterName, 'With `--apply`: ask for confirmation on the terminal before writing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'With `--apply`: wait until all objects are ready')
            [CompletionResult]::new('--exit-zero', '--exit-zero', [CompletionResultType]::ParameterName, 'Exit with 0 even if there is drift')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no text; reports requested with `-o` are still written')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no text; reports requested with `-o` are still written')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;apply' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory')
            [CompletionResult]::new('--field-manager', '--field-manager', [CompletionResultType]::ParameterName, 'Name of the field manager that applies and owns the fields of the manifests')
            [CompletionResult]::new('--evidence', '--evidence', [CompletionResultType]::ParameterName, 'How to determine drift: prove it from the live object and ask the server only when needed (auto), always ask (server), or never send a PATCH and compare locally (read-only)')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'Which fields to take from other managers: manual changes (`manual`), all, or none; without a value, all')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'What to do when an immutable field differs: report it, or delete and recreate the object')
            [CompletionResult]::new('--adopt', '--adopt', [CompletionResultType]::ParameterName, 'Field managers to take over from, such as `helm,kubectl`: their fields in the manifests become ours, and their apply sets are continued')
            [CompletionResult]::new('--applyset', '--applyset', [CompletionResultType]::ParameterName, 'Apply set to join and prune, named by its parent object: a Secret, or another kind as in `configmap/NAME`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only show what would change, like `kubectl reconcile diff` and with its exit codes')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format, on standard output or in a file: `json=FILE` (repeatable)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format, on standard output or in a file: `json=FILE` (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra field of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate, which makes the connection insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Server name to expect in the server''s certificate')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Directory for cached types of custom resources [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Succeed even if no object is found or selected')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-unmanaged', '--show-unmanaged', [CompletionResultType]::ParameterName, 'Also show fields that other managers added')
            [CompletionResult]::new('--strict-ownership', '--strict-ownership', [CompletionResultType]::ParameterName, 'Also report drift when values match but some fields are not yet owned by our field manager')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'Delete members of the apply set that are no longer in the manifests, after everything else has succeeded')
            [CompletionResult]::new('--applyset-recover', '--applyset-recover', [CompletionResultType]::ParameterName, 'Also delete members that the parent of the apply set does not list, in any namespace; without this flag they are only shown. Namespaces and CustomResourceDefinitions found this way are never deleted')
            [CompletionResult]::new('--confirm', '--confirm', [CompletionResultType]::ParameterName, 'Show what would change, and ask for confirmation on the terminal before writing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until all objects are ready; stop at the first failure that cannot recover')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no text; reports requested with `-o` are still written')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no text; reports requested with `-o` are still written')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;status' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format, on standard output or in a file: `json=FILE` (repeatable)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format, on standard output or in a file: `json=FILE` (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra field of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate, which makes the connection insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Server name to expect in the server''s certificate')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Directory for cached types of custom resources [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Succeed even if no object is found or selected')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until all objects are ready; stop at the first failure that cannot recover')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no text; reports requested with `-o` are still written')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no text; reports requested with `-o` are still written')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;snapshot' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomization directory to build with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Use only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'How to treat input that kubectl would silently change or drop: reject it, warn, or accept it')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'Write to this file instead of standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context to use; `diff`, `apply` and `status` take several: `a,b`, `prod-*`')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace for objects that do not set one; objects that set another are rejected')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra field of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not verify the server''s certificate, which makes the connection insecure')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Server name to expect in the server''s certificate')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Directory for cached types of custom resources [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one request, such as `30s` or `1m`; `0` limits only the time to connect and pauses in a response')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Also read the subdirectories of directories')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Succeed even if no object is found or selected')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--include-secrets', '--include-secrets', [CompletionResultType]::ParameterName, 'Include the values of Secrets; a file written with `--file` is then readable only by its owner')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;config' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('view', 'view', [CompletionResultType]::ParameterValue, 'Show the configuration in force and where it comes from')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the configuration')
            break
        }
        'kubectl-reconcile;config;view' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory or glob whose configuration to show (repeatable) [default: the working directory]')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory or glob whose configuration to show (repeatable) [default: the working directory]')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomization directory whose configuration to show')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomization directory whose configuration to show')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or in the working directory')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Print details on standard error: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;config;schema' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-reconcile;completion' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-reconcile;__complete' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
