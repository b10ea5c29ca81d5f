#!/bin/sh
# merge-request.sh RUN BRANCH: commits the patch of a finished run on the commit of the pipeline, pushes it as BRANCH, and has GitLab
# open a merge request, or update the open one. RUN holds result.json and changes.patch.
set -eu
run=$1 branch=$2

result() { node -p "const run = JSON.parse(fs.readFileSync(process.argv[1], 'utf8')); $1" "$run/result.json"; }

outcome=$(result 'run.outcome')
if [ "$outcome" != done ]; then
  echo "Nothing to publish: the run ended as $outcome."
  exit 0
fi
# What CI and later runs obey goes through people, not through a branch that CI runs.
refused=$(result "run.flags.filter(({ flag }) => ['workflow', 'action', 'code_owners', 'own_settings', 'principles', 'ci'].includes(flag)).map(({ path }) => path).join(' ')")
if [ -n "$refused" ]; then
  echo "Not published, since CI or later runs obey these files: $refused" >&2
  exit 8
fi
title=$(result 'run.summary.split("\n")[0].replace(/[^\x20-\x7e]/g, "").slice(0, 72) || "Changes by patchsmith"')

# Nothing in the tree is executed: git runs no hooks, and the files are only moved.
git() { command git -c core.hooksPath=/dev/null -c user.name=patchsmith -c user.email=patchsmith@localhost "$@"; }
git checkout --quiet --force -B "$branch" "$CI_COMMIT_SHA"
git apply --index "$run/changes.patch"
git commit --quiet --message "$title"
git -c credential.helper= -c credential.helper='!f() { echo username=oauth2; echo "password=$MERGE_REQUEST_TOKEN"; }; f' \
  push --quiet --force \
  --push-option merge_request.create \
  --push-option "merge_request.target=$CI_DEFAULT_BRANCH" \
  --push-option "merge_request.title=$title" \
  --push-option "merge_request.description=Made by $CI_PIPELINE_URL, which has the report of the run." \
  "$CI_SERVER_URL/$CI_PROJECT_PATH.git" "HEAD:refs/heads/$branch"
echo "Pushed $branch: $title"
