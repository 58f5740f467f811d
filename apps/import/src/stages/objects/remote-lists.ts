import type { UpstreamPerson } from '@rookery/contracts';
import type { OwnerOf } from '../../people/people';
import {
  commentIn,
  isPullRequest,
  isPullRequestComment,
  issueIn,
  labelIn,
  milestoneIn,
} from '../../sources/remote/remote-objects';
import type { RemoteComment, RemoteIssue, RemoteLabel, RemoteMilestone } from '../../sources/remote/remote-objects';
import { objectList } from './object-list';

const labels = objectList<'label', RemoteLabel>({
  kind: 'label',
  path: '/labels',
  read: labelIn,
  nameOf: ({ name }) => name,
  peopleOf: () => [],
  convert: ({ name, color, description }) => ({ name, color: `#${color}`, description }),
});

const milestones = objectList<'milestone', RemoteMilestone>({
  kind: 'milestone',
  path: '/milestones?state=all',
  read: milestoneIn,
  nameOf: ({ title }) => title,
  peopleOf: () => [],
  convert: ({ number, title, description, isClosed, dueOn, createdAt, updatedAt }) => ({
    ...{ number, title, description, state: isClosed ? 'closed' : 'active' },
    ...{ due_on: dueOn, created_at: createdAt, updated_at: updatedAt },
  }),
});

const issues = objectList<'issue', RemoteIssue>({
  kind: 'issue',
  path: '/issues?state=all&sort=created&direction=asc',
  includes: (item) => !isPullRequest(item),
  read: issueIn,
  nameOf: ({ number }) => `#${number}`,
  peopleOf: ({ author, assignees }) => [author, ...assignees],
  convert: (issue, ownerOf) => ({
    ...{ number: issue.number, title: issue.title, labels: [...issue.labels], milestone: issue.milestone },
    author_id: ownerOf(issue.author).user_id,
    description: attributed(issue.body ?? '', issue.author, ownerOf) || null,
    state: issue.isClosed ? 'closed' : 'opened',
    is_locked: issue.isLocked,
    ...{ created_at: issue.createdAt, updated_at: issue.updatedAt, closed_at: issue.closedAt },
    assignee_ids: [...new Set(issue.assignees.map((person) => ownerOf(person).user_id))],
  }),
});

/** Comments on issues. The list holds those on pull requests, too. */
const comments = objectList<'note', RemoteComment>({
  kind: 'note',
  path: '/issues/comments?sort=created&direction=asc',
  includes: (item) => !isPullRequestComment(item),
  read: commentIn,
  nameOf: ({ id, number }) => `#${number} (comment ${id})`,
  peopleOf: ({ author }) => [author],
  convert: ({ id, number, author, body, createdAt, updatedAt }, ownerOf) => ({
    ...{ id, issue: number, author_id: ownerOf(author).user_id, body: attributed(body, author, ownerOf) },
    ...{ created_at: createdAt, updated_at: updatedAt },
  }),
});

/** Lists of the host, in the order of the stages. Source: reference identity-and-import 6.6, 6.9. */
export const REMOTE_LISTS = [labels, milestones, issues, comments];

/** Names the author of a text that belongs to the account of several people. Source: reference identity-and-import 6.7. */
function attributed(text: string, author: UpstreamPerson, ownerOf: OwnerOf): string {
  if (!ownerOf(author).is_shared) return text;
  return `*Created by: ${author.username.replace(/[^\w.-]/g, '')}*\n\n${text}`.trimEnd();
}
