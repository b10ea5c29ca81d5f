/** Issues with their labels, assignees and milestones. */

import { type Answer, type Call, type Handler, page } from '../call.ts';
import { notFound, Refusal, validationFailed } from '../refusal.ts';
import { labelNamed } from '../state/labels.ts';
import { newIssue } from '../state/new-issue.ts';
import {
  type Account,
  type Issue,
  type Milestone,
  mayPush,
  type Repository,
  roleOf,
} from '../state/world.ts';
import { showIssue, showLabel, showMilestone } from '../views.ts';
import { checkText } from './text.ts';

export const issues: Readonly<Record<string, Handler>> = {
  'issues/get': (call) => shown(call, issueOf(call)),
  'issues/list-for-repo': list,
  'issues/create': create,
  'issues/update': update,
  'issues/list-labels-on-issue': (call) => page(call, labelsOf(call)),
  'issues/add-labels': addLabels,
  'issues/remove-label': removeLabel,
  'issues/add-assignees': addAssignees,
  'issues/list-milestones': listMilestones,
  'issues/get-milestone': getMilestone,
};

/** Throws 404 when there is none of the number in the path. */
export function issueOf(call: Call): Issue {
  const issue = call.repository().issues.get(Number(call.params.issue_number));
  if (issue === undefined) throw notFound();
  return issue;
}

function shown(call: Call, issue: Issue, status = 200): Answer {
  return { status, body: showIssue(call.world, call.repository(), issue) };
}

function list(call: Call): Answer {
  const state = call.query.get('state') ?? 'open';
  const labels = (call.query.get('labels') ?? '').split(',').filter(Boolean);
  const since = call.query.get('since') ?? '';
  const found = [...call.repository().issues.values()]
    .filter(({ updatedAt }) => updatedAt >= since)
    .filter((issue) => state === 'all' || issue.state === state)
    .filter((issue) => labels.every((name) => issue.labels.some((label) => label.name === name)))
    .sort((a, b) => b.number - a.number);
  return page(
    call,
    found.map((issue) => showIssue(call.world, call.repository(), issue)),
  );
}

function create(call: Call): Answer {
  const repository = call.repository();
  if (call.token === null) throw new Refusal(401, 'Requires authentication');
  const { title, body = null } = call.body;
  checkText('Issue', title, body);
  const text = body === null ? null : String(body);
  const issue = newIssue(call.world, repository, {
    title: String(title),
    body: text,
    author: call.token.account,
  });
  applyFields(call, issue);
  return shown(call, issue, 201);
}

function update(call: Call): Answer {
  const issue = issueOf(call);
  const { title, body, state } = call.body;
  checkText('Issue', title, body ?? null);
  applyFields(call, issue);
  if (title !== undefined) issue.title = String(title);
  if (body !== undefined) issue.body = body === null ? null : String(body);
  if (state === 'closed' && issue.state === 'open' && call.token !== null)
    issue.closedBy = call.token.account;
  if (state === 'open' || state === 'closed') issue.state = state;
  issue.updatedAt = call.world.now();
  return shown(call, issue);
}

/** Labels, assignees and milestone; without push access they are dropped in silence. */
function applyFields(call: Call, issue: Issue): void {
  const repository = call.repository();
  const { token } = call;
  if (token === null) return;
  if (token.kind === 'user' && !mayPush(roleOf(repository, token.account))) return;
  const { labels, assignees, milestone } = call.body;
  const people = ((assignees ?? []) as (string | { login: string })[]).map((one) => {
    const login = typeof one === 'string' ? one : one.login;
    const account = assignable(call, login);
    if (account === null)
      throw validationFailed({ resource: 'Issue', field: 'assignees', code: 'invalid', value: login });
    return account;
  });
  const stone =
    milestone === undefined || milestone === null ? null : milestoneOf(repository, Number(milestone));
  if (milestone !== undefined && milestone !== null && stone === null)
    throw validationFailed({
      resource: 'Issue',
      field: 'milestone',
      code: 'invalid',
      value: String(milestone),
    });
  if (labels !== undefined) issue.labels = namedLabels(call, labels);
  if (assignees !== undefined) issue.assignees = people;
  if (milestone !== undefined) issue.milestone = stone;
}

function namedLabels(call: Call, labels: unknown): Issue['labels'] {
  const names = (labels as (string | { name: string })[]).map((one) =>
    typeof one === 'string' ? one : one.name,
  );
  return [...new Set(names.map((name) => labelNamed(call.world, call.repository(), name)))];
}

/** The body is a list, or an object with one. */
function givenLabels(call: Call): Issue['labels'] {
  const body: unknown = call.body;
  return namedLabels(call, Array.isArray(body) ? body : (call.body.labels ?? []));
}

function labelsOf(call: Call): unknown[] {
  return issueOf(call).labels.map((label) => showLabel(call.world, call.repository(), label));
}

function addLabels(call: Call): Answer {
  const issue = issueOf(call);
  issue.labels = [...new Set([...issue.labels, ...givenLabels(call)])];
  return { status: 200, body: labelsOf(call) };
}

function removeLabel(call: Call): Answer {
  const issue = issueOf(call);
  const kept = issue.labels.filter((label) => label.name !== call.params.name);
  if (kept.length === issue.labels.length) throw new Refusal(404, 'Label does not exist');
  issue.labels = kept;
  return { status: 200, body: labelsOf(call) };
}

/** People who cannot be assigned are passed over in silence. */
function addAssignees(call: Call): Answer {
  const issue = issueOf(call);
  const people = ((call.body.assignees ?? []) as string[]).flatMap((login) => assignable(call, login) ?? []);
  issue.assignees = [...new Set([...issue.assignees, ...people])].slice(0, 10);
  return shown(call, issue, 201);
}

function assignable(call: Call, login: string): Account | null {
  const account = call.world.account(login);
  return account !== undefined && roleOf(call.repository(), account) !== null ? account : null;
}

function listMilestones(call: Call): Answer {
  const state = call.query.get('state') ?? 'open';
  const repository = call.repository();
  const found = repository.milestones.filter((one) => state === 'all' || one.state === state);
  return page(
    call,
    found.map((one) => showMilestone(call.world, repository, one)),
  );
}

function getMilestone(call: Call): Answer {
  const milestone = milestoneOf(call.repository(), Number(call.params.milestone_number));
  if (milestone === null) throw notFound();
  return { status: 200, body: showMilestone(call.world, call.repository(), milestone) };
}

function milestoneOf(repository: Repository, number: number): Milestone | null {
  return repository.milestones.find((one) => one.number === number) ?? null;
}
