
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
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show what differs; exit 1 when something does')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Make the cluster as the manifests say, in one pass that can be repeated')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show how far the live objects are on their way to being ready; exit 5 when one isn''t')
            [CompletionResult]::new('snapshot', 'snapshot', [CompletionResultType]::ParameterValue, 'Capture the live objects for an offline `diff --live FILE`')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, of one command or of the whole program')
            [CompletionResult]::new('__complete', '__complete', [CompletionResultType]::ParameterValue, 'Answer what kubectl asks for `kubectl reconcile <TAB>`: candidates, a line each')
            break
        }
        'kubectl-reconcile;diff' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'What is refused: input that kubectl would read with a loss (strict), or only what can''t be read at all')
            [CompletionResult]::new('--field-manager', '--field-manager', [CompletionResultType]::ParameterName, 'Name under which fields are owned')
            [CompletionResult]::new('--evidence', '--evidence', [CompletionResultType]::ParameterName, 'How a verdict is come by: prove, else ask the server (auto); ask for every object (server); never send a PATCH, and compare here what can''t be proven (read-only)')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'What may be taken from other owners: what hands changed, everything (also when no value is given), or nothing')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Compare with the objects captured in this file instead of a cluster (an empty file: nothing exists)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, '`text` or `json`, to a file with `=FILE` (repeatable)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, '`text` or `json`, to a file with `=FILE` (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When text is coloured')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Context of the kubeconfig to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Cluster of the kubeconfig to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'User of the kubeconfig to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'Client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'Client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: the connection is open to attack')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate is checked for')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Where types of custom resources are kept between runs [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Having nothing to do is fine')
            [CompletionResult]::new('--show-unmanaged', '--show-unmanaged', [CompletionResultType]::ParameterName, 'Show fields that others added, too')
            [CompletionResult]::new('--strict-ownership', '--strict-ownership', [CompletionResultType]::ParameterName, 'Count it as drift when values are equal and only not all of them are recorded as ours')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Apply the difference, as `apply` does')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'With `--apply`: wait until everything is ready')
            [CompletionResult]::new('--exit-zero', '--exit-zero', [CompletionResultType]::ParameterName, 'Exit 0 although there is drift')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no text; reports that were asked for stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no text; reports that were asked for stay')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;apply' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'What is refused: input that kubectl would read with a loss (strict), or only what can''t be read at all')
            [CompletionResult]::new('--field-manager', '--field-manager', [CompletionResultType]::ParameterName, 'Name under which fields are owned')
            [CompletionResult]::new('--evidence', '--evidence', [CompletionResultType]::ParameterName, 'How a verdict is come by: prove, else ask the server (auto); ask for every object (server); never send a PATCH, and compare here what can''t be proven (read-only)')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'What may be taken from other owners: what hands changed, everything (also when no value is given), or nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only show what would be done, as `diff` does and with its exit codes')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, '`text` or `json`, to a file with `=FILE` (repeatable)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, '`text` or `json`, to a file with `=FILE` (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When text is coloured')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Context of the kubeconfig to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Cluster of the kubeconfig to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'User of the kubeconfig to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'Client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'Client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: the connection is open to attack')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate is checked for')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Where types of custom resources are kept between runs [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Having nothing to do is fine')
            [CompletionResult]::new('--show-unmanaged', '--show-unmanaged', [CompletionResultType]::ParameterName, 'Show fields that others added, too')
            [CompletionResult]::new('--strict-ownership', '--strict-ownership', [CompletionResultType]::ParameterName, 'Count it as drift when values are equal and only not all of them are recorded as ours')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until everything is ready; the first failure that can''t pass ends it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no text; reports that were asked for stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no text; reports that were asked for stay')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;status' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'What is refused: input that kubectl would read with a loss (strict), or only what can''t be read at all')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, '`text` or `json`, to a file with `=FILE` (repeatable)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, '`text` or `json`, to a file with `=FILE` (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When text is coloured')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Context of the kubeconfig to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Cluster of the kubeconfig to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'User of the kubeconfig to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'Client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'Client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: the connection is open to attack')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate is checked for')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Where types of custom resources are kept between runs [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Having nothing to do is fine')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until everything is ready; the first failure that can''t pass ends it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no text; reports that were asked for stay')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no text; reports that were asked for stay')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-reconcile;snapshot' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory, glob, URL, or `-` for standard input (repeatable)')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Directory with a kustomization, built with `kustomize` or `kubectl kustomize`')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only manifests whose labels match, such as `app=web,tier in (a, b)`')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'What is refused: input that kubectl would read with a loss (strict), or only what can''t be read at all')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'Write to this file instead of stdout')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When text is coloured')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'Tell more on stderr: repeated requests from 1, every request from 6')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path to the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Context of the kubeconfig to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Cluster of the kubeconfig to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'User of the kubeconfig to use')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none; objects that name another are refused')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'URL of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'User to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Group to impersonate (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'UID to impersonate')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra of the user to impersonate (repeatable)')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate authority of the API server')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'Client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'Client key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Don''t check the server''s certificate: the connection is open to attack')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate is checked for')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Where types of custom resources are kept between runs [default: ~/.kube/cache]')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Read the subdirectories of directories, too')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Having nothing to do is fine')
            [CompletionResult]::new('--include-secrets', '--include-secrets', [CompletionResultType]::ParameterName, 'Keep the values of Secrets; a file is then readable by its owner only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
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
