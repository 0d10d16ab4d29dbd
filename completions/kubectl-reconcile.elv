
use builtin;
use str;

set edit:completion:arg-completer[kubectl-reconcile] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'kubectl-reconcile'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'kubectl-reconcile'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand diff 'Show what differs; exit 1 when something does'
            cand apply 'Make the cluster as the manifests say, in one pass that can be repeated'
            cand snapshot 'Capture the live objects for an offline `diff --live FILE`'
            cand completion 'Print a completion script'
            cand man 'Print the manual page, of one command or of the whole program'
            cand __complete 'Answer what kubectl asks for `kubectl reconcile <TAB>`: candidates, a line each'
        }
        &'kubectl-reconcile;diff'= {
            cand -f 'File, directory, glob, or `-` for standard input (repeatable)'
            cand --filename 'File, directory, glob, or `-` for standard input (repeatable)'
            cand -l 'Only manifests whose labels match, such as `app=web,tier in (a, b)`'
            cand --selector 'Only manifests whose labels match, such as `app=web,tier in (a, b)`'
            cand --validate 'What is refused: input that kubectl would read with a loss (strict), or only what can''t be read at all'
            cand --field-manager 'Name under which fields are owned'
            cand --evidence 'How a verdict is come by: prove, else ask the server (auto); ask for every object (server); never send a PATCH, and compare here what can''t be proven (read-only)'
            cand --force-conflicts 'What may be taken from other owners: what hands changed, everything (also when no value is given), or nothing'
            cand --live 'Compare with the objects captured in this file instead of a cluster (an empty file: nothing exists)'
            cand -o '`text` or `json`, to a file with `=FILE` (repeatable)'
            cand --output '`text` or `json`, to a file with `=FILE` (repeatable)'
            cand --color 'When text is coloured'
            cand -v 'Tell more on stderr: repeated requests from 1, every request from 6'
            cand --v 'Tell more on stderr: repeated requests from 1, every request from 6'
            cand --kubeconfig 'Path to the kubeconfig file'
            cand --context 'Context of the kubeconfig to use'
            cand --cluster 'Cluster of the kubeconfig to use'
            cand --user 'User of the kubeconfig to use'
            cand -n 'Namespace of objects that name none; objects that name another are refused'
            cand --namespace 'Namespace of objects that name none; objects that name another are refused'
            cand -s 'URL of the API server'
            cand --server 'URL of the API server'
            cand --token 'Bearer token'
            cand --as 'User to impersonate'
            cand --as-group 'Group to impersonate (repeatable)'
            cand --as-uid 'UID to impersonate'
            cand --as-user-extra 'Extra of the user to impersonate (repeatable)'
            cand --certificate-authority 'Certificate authority of the API server'
            cand --client-certificate 'Client certificate'
            cand --client-key 'Client key'
            cand --insecure-skip-tls-verify 'Don''t check the server''s certificate: the connection is open to attack'
            cand --tls-server-name 'Name that the server''s certificate is checked for'
            cand --disable-compression 'Ask for uncompressed answers'
            cand --request-timeout 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence'
            cand -R 'Read the subdirectories of directories, too'
            cand --recursive 'Read the subdirectories of directories, too'
            cand --allow-empty 'Having nothing to do is fine'
            cand --show-unmanaged 'Show fields that others added, too'
            cand --apply 'Apply the difference, as `apply` does'
            cand --exit-zero 'Exit 0 although there is drift'
            cand -q 'Print no text; reports that were asked for stay'
            cand --quiet 'Print no text; reports that were asked for stay'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-reconcile;apply'= {
            cand -f 'File, directory, glob, or `-` for standard input (repeatable)'
            cand --filename 'File, directory, glob, or `-` for standard input (repeatable)'
            cand -l 'Only manifests whose labels match, such as `app=web,tier in (a, b)`'
            cand --selector 'Only manifests whose labels match, such as `app=web,tier in (a, b)`'
            cand --validate 'What is refused: input that kubectl would read with a loss (strict), or only what can''t be read at all'
            cand --field-manager 'Name under which fields are owned'
            cand --evidence 'How a verdict is come by: prove, else ask the server (auto); ask for every object (server); never send a PATCH, and compare here what can''t be proven (read-only)'
            cand --force-conflicts 'What may be taken from other owners: what hands changed, everything (also when no value is given), or nothing'
            cand --dry-run 'Only show what would be done, as `diff` does and with its exit codes'
            cand -o '`text` or `json`, to a file with `=FILE` (repeatable)'
            cand --output '`text` or `json`, to a file with `=FILE` (repeatable)'
            cand --color 'When text is coloured'
            cand -v 'Tell more on stderr: repeated requests from 1, every request from 6'
            cand --v 'Tell more on stderr: repeated requests from 1, every request from 6'
            cand --kubeconfig 'Path to the kubeconfig file'
            cand --context 'Context of the kubeconfig to use'
            cand --cluster 'Cluster of the kubeconfig to use'
            cand --user 'User of the kubeconfig to use'
            cand -n 'Namespace of objects that name none; objects that name another are refused'
            cand --namespace 'Namespace of objects that name none; objects that name another are refused'
            cand -s 'URL of the API server'
            cand --server 'URL of the API server'
            cand --token 'Bearer token'
            cand --as 'User to impersonate'
            cand --as-group 'Group to impersonate (repeatable)'
            cand --as-uid 'UID to impersonate'
            cand --as-user-extra 'Extra of the user to impersonate (repeatable)'
            cand --certificate-authority 'Certificate authority of the API server'
            cand --client-certificate 'Client certificate'
            cand --client-key 'Client key'
            cand --insecure-skip-tls-verify 'Don''t check the server''s certificate: the connection is open to attack'
            cand --tls-server-name 'Name that the server''s certificate is checked for'
            cand --disable-compression 'Ask for uncompressed answers'
            cand --request-timeout 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence'
            cand -R 'Read the subdirectories of directories, too'
            cand --recursive 'Read the subdirectories of directories, too'
            cand --allow-empty 'Having nothing to do is fine'
            cand --show-unmanaged 'Show fields that others added, too'
            cand -q 'Print no text; reports that were asked for stay'
            cand --quiet 'Print no text; reports that were asked for stay'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-reconcile;snapshot'= {
            cand -f 'File, directory, glob, or `-` for standard input (repeatable)'
            cand --filename 'File, directory, glob, or `-` for standard input (repeatable)'
            cand -l 'Only manifests whose labels match, such as `app=web,tier in (a, b)`'
            cand --selector 'Only manifests whose labels match, such as `app=web,tier in (a, b)`'
            cand --validate 'What is refused: input that kubectl would read with a loss (strict), or only what can''t be read at all'
            cand --file 'Write to this file instead of stdout'
            cand --color 'When text is coloured'
            cand -v 'Tell more on stderr: repeated requests from 1, every request from 6'
            cand --v 'Tell more on stderr: repeated requests from 1, every request from 6'
            cand --kubeconfig 'Path to the kubeconfig file'
            cand --context 'Context of the kubeconfig to use'
            cand --cluster 'Cluster of the kubeconfig to use'
            cand --user 'User of the kubeconfig to use'
            cand -n 'Namespace of objects that name none; objects that name another are refused'
            cand --namespace 'Namespace of objects that name none; objects that name another are refused'
            cand -s 'URL of the API server'
            cand --server 'URL of the API server'
            cand --token 'Bearer token'
            cand --as 'User to impersonate'
            cand --as-group 'Group to impersonate (repeatable)'
            cand --as-uid 'UID to impersonate'
            cand --as-user-extra 'Extra of the user to impersonate (repeatable)'
            cand --certificate-authority 'Certificate authority of the API server'
            cand --client-certificate 'Client certificate'
            cand --client-key 'Client key'
            cand --insecure-skip-tls-verify 'Don''t check the server''s certificate: the connection is open to attack'
            cand --tls-server-name 'Name that the server''s certificate is checked for'
            cand --disable-compression 'Ask for uncompressed answers'
            cand --request-timeout 'Longest wait for one request, such as `30s` or `1m`; `0` bounds only connecting and silence'
            cand -R 'Read the subdirectories of directories, too'
            cand --recursive 'Read the subdirectories of directories, too'
            cand --allow-empty 'Having nothing to do is fine'
            cand --include-secrets 'Keep the values of Secrets; a file is then readable by its owner only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-reconcile;completion'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'kubectl-reconcile;man'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'kubectl-reconcile;__complete'= {
        }
    ]
    $completions[$command]
}
