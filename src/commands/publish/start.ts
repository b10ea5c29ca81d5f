/** `patchsmith publish RUN` on the command line. */

import type { Settings } from '../../config/schema.ts';
import { shown } from '../../config/values/value.ts';
import { type Problem, problem } from '../../domain/errors/problem.ts';
import { Publication } from '../../domain/github/publishing/publication.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { knownSecretFinder, redactedStrings, secretsAmong } from '../../domain/secrets/redact.ts';
import { jsonDocument } from '../../domain/text/terminal.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd, sayTo } from '../../host/say.ts';
import type { Given } from '../command.ts';
import { readSettings } from '../inputs.ts';
import { handOver, namedRun } from '../work.ts';

/** Starts `patchsmith publish` with the given flags and variables. */
export async function startPublish(context: HostContext, given: Given): Promise<CommandOutcome> {
  const inputs = readPublishInputs(context, given);
  if (inputs.status === 'refused') return inputs;
  const named = await namedRun(context, given.operands[0], { quiet: inputs.settings.quiet });
  if (named.status === 'refused') return named;
  return { status: 'printed', outcome: await publishAndTell(context, inputs, named.run) };
}

/** Publishes a run, named by its id or its run directory; hands over its document and prints the last line. */
export async function publishAndTell(
  context: HostContext,
  { settings, repository, token }: PublishInputs & { status: 'ok' },
  run: string,
): Promise<RunOutcome> {
  const { output, quiet } = settings;
  context.hide(token);

  const say = sayTo(context, MAX_SAID);
  // Nothing else loads the libraries that talk to GitHub.
  const { publishRun } = await import('./publish.ts');
  const made = await publishRun({
    ...context,
    run,
    settings,
    repository,
    token,
    findKnown: knownSecretFinder([...secretsAmong(context.env), token]),
    // A dry run was asked for just this output.
    say: quiet && !settings.dryRun ? () => {} : say,
  });
  const publication = Publication.parse(redactedStrings(made, context.redact));
  context.onPublication?.(publication);
  for (const warning of publication.warnings) say(`warning: ${warning}`);
  const published = {
    name: publication.outcome,
    exitCode: publication.exitCode,
    reason: publication.reason,
    errorCode: publication.errorCode,
  };
  const unread =
    output === 'json' ? await handOver(context, jsonDocument(publication, context.redact)) : null;
  const outcome = published.exitCode === 0 ? (unread ?? published) : published;
  sayEnd(context, outcome);
  return outcome;
}

/** Settings and token for a publication, or what is wrong with them. */
export type PublishInputs =
  | { status: 'ok'; settings: Settings; repository: string; token: string }
  | { status: 'refused'; problems: Problem[] };

/** What a publication needs besides the run; all problems are reported at once. `may` is what the token has to permit. */
export function readPublishInputs(
  context: HostContext,
  { flags, problems, switches }: Omit<Given, 'operands'>,
  may = 'contents: write and pull-requests: write',
): PublishInputs {
  const read = readSettings(context, flags, problems);
  if (read.status === 'refused') return read;
  const { settings } = read;
  const { repository, output } = settings;
  const token = context.env.GITHUB_TOKEN || context.env.GH_TOKEN || '';
  const needsToken = settings.publishAs !== 'sarif' || settings.issue !== null;
  const lacking = [
    ...(token || !needsToken ? [] : [noToken(context, may)]),
    ...(switches.has('publish') && settings.publishAs !== 'pull-request' ? [TWO_STEPS] : []),
    ...(repository === null ? [NO_REPOSITORY] : []),
    ...foreignTeams(settings),
    ...(output === 'none' || output === 'json' ? [] : [NO_SUCH_OUTPUT]),
  ];
  if (repository === null || lacking.length > 0) return { status: 'refused', problems: lacking };
  return { status: 'ok', settings, repository, token };
}

/** GitHub only accepts teams of the organisation that owns the repository, by their slugs. */
function foreignTeams({ teamReviewers, repository }: Settings): Problem[] {
  const [owner = ''] = (repository ?? '').split('/');
  return teamReviewers.flatMap((team) => {
    const [organisation = ''] = team.includes('/') ? team.split('/') : [owner];
    return owner === '' || organisation.toLowerCase() === owner.toLowerCase()
      ? []
      : [
          problem(
            'ERR_FOREIGN_TEAM',
            `--team-reviewer: the team ${shown(team)} is not one of ${owner}, which owns the repository`,
          ),
        ];
  });
}

/** Most characters of a line: a dry run prints request bodies in full. */
export const MAX_SAID = 200_000;

function noToken({ isStep }: HostContext, may: string): Problem {
  const how =
    isStep === true ? 'github-token, such as to github.token in a job' : 'GITHUB_TOKEN in the environment,';
  return problem('ERR_NO_TOKEN', `there is no token: set ${how} with ${may}`);
}

const TWO_STEPS = problem(
  'ERR_SETTINGS_CONFLICT',
  '--publish-as: what a run answers is published by patchsmith publish, in a job of its own',
);
const NO_REPOSITORY = problem(
  'ERR_NO_REPOSITORY_NAME',
  'there is no repository: name it with --repository OWNER/NAME or GITHUB_REPOSITORY',
);
const NO_SUCH_OUTPUT = problem(
  'ERR_INVALID_VALUE',
  '--output: publish prints nothing on stdout; use --output json for a machine-readable result',
);
