# Read by the scripts that talk to GitHub. They never fail the job: its result is that of the comparison.
# shellcheck shell=bash

folder="$RUNNER_TEMP/kubectl-reconcile"

# Calls the API: api METHOD PATH [FILE], with the file as the body. The answer is in $folder/answer.json. If the request is refused, a
# warning says which permission the job needs, and this fails.
api() {
  local method=$1 path=$2 status
  local options=(--silent --show-error --max-time 60 --request "$method" --output "$folder/answer.json" --write-out '%{http_code}')
  options+=(--header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28')
  if [[ $method == GET ]]; then options+=(--retry 3); fi
  if [[ $# -gt 2 ]]; then options+=(--header 'Content-Type: application/json' --data-binary "@$3"); fi
  # The token is no argument, which other processes could read.
  status=$(printf 'header = "Authorization: Bearer %s"\n' "$TOKEN" | curl --config - "${options[@]}" "$GITHUB_API_URL/$path") || status=000
  case $status in
    2??) return 0 ;;
    403 | 404) echo "::warning::GitHub refused to write the report ($status): give the job the permission $permission" ;;
    *) echo "::warning::the report could not be written to GitHub ($method $path: $status)" ;;
  esac
  return 1
}
