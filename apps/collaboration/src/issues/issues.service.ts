import { Injectable } from '@nestjs/common';
import { issueClosed, issueCreated, issueDeleted, issueReopened, issueUpdated } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Conflict, Forbidden, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { nextInternalId, prepared, violates, Work } from '@rookery/persistence';
import { mentionsIn } from '../mentions/mentions';
import { visibleIssueSql } from '../noteables/noteable-kinds';
import { readerOf } from '../noteables/reader';
import type { ParentFacts } from '../noteables/reader';
import { systemNotes, writeSystemNotes } from '../notes/system-notes';
import { Assignees } from './assignees';
import type { AssigneeChange } from './assignees';
import { changeOf, permitted, wantsMoreThanState } from './issue-change';
import type { IssueChange, IssueWish } from './issue-change';
import { checkTexts, Issue, taskCounts } from './issue.entity';
import type { IssueType } from './issue.entity';
import { issuePolicy } from './issue.policy';
import { IssuesQueries } from './issues.queries';

export interface NewIssue {
  readonly title: string;
  readonly description: string | null;
  readonly issueType: IssueType;
  readonly confidential: boolean;
  readonly assigneeIds: readonly number[];
  readonly dueOn: string | null;
  readonly discussionLocked: boolean | null;
  readonly createdAt: Date | null;
  readonly iid: number | null;
}

const lockVisible = prepared(
  'issues_lock_visible',
  `select i.id, now() as at from issues i where i.project_id = $1::bigint and i.iid = $5::bigint and ${visibleIssueSql(
    'i',
    { viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: '$4::boolean' },
  )} for update`,
);
const moment = prepared('now', `select now() as at`);
/** A number that was given by hand moves the counter past itself. */
const raiseInternalId = prepared(
  'issues_raise_internal_id',
  `insert into internal_ids (usage, scope_id, last_value) values ('issues', $1::bigint, $2::bigint)
   on conflict (usage, scope_id) do update set last_value = greatest(internal_ids.last_value, excluded.last_value)`,
);
const removeNotes = prepared(
  'issues_remove_notes',
  `delete from notes where noteable_id = $1::bigint and noteable_type = 'Issue'`,
);

/** Writing issues; answers are the issue as JSON text. Times are those of the database. Source: reference work-tracking 9.1. */
@Injectable()
export class IssuesService {
  constructor(
    private readonly work: Work,
    private readonly queries: IssuesQueries,
    private readonly assignees: Assignees,
    private readonly directory: Directory,
  ) {}

  async create(viewer: SignedInViewer, project: ParentFacts, wish: NewIssue): Promise<string> {
    checkTexts(wish);
    const mayPlan = issuePolicy.mayPlan(viewer, project);
    const mayBackdate = issuePolicy.mayBackdate(viewer, project);
    const users = mayPlan ? await this.assignees.eligible(project, wish.assigneeIds) : [];
    return this.work.run(async (tx) => {
      const at = (mayBackdate ? wish.createdAt : null) ?? (await now(tx));
      const fields = {
        projectId: project.id,
        authorId: viewer.userId,
        title: wish.title,
        description: wish.description,
        issueType: wish.issueType,
        confidential: wish.confidential,
        dueOn: mayPlan ? wish.dueOn : null,
        discussionLocked: mayPlan ? wish.discussionLocked : null,
        createdAt: at,
        updatedAt: at,
        ...taskCounts(wish.description),
      };
      const issue = await insertIssue(tx, fields, mayBackdate ? wish.iid : null);
      await this.assignees.assign(tx, issue.id, [], users);
      tx.emit(
        issueCreated.of({
          aggregateId: issue.id,
          actorId: viewer.userId,
          data: { ...facts(issue), assignee_ids: users.map((user) => user.id) },
        }),
      );
      return this.queries.find(viewer, project, issue.iid, tx);
    });
  }

  async edit(viewer: SignedInViewer, project: ParentFacts, iid: number, wish: IssueWish): Promise<string> {
    return this.work.run(async (tx) => {
      const { issue, at } = await this.locked(tx, viewer, project, iid);
      const before = await this.assignees.of(tx, issue.id);
      const subject = { authorId: issue.authorId, assigneeIds: before };
      const may = wantsMoreThanState(wish) ? issuePolicy.mayEdit : issuePolicy.mayChangeState;
      if (!may(viewer, project, subject)) throw new Forbidden();
      checkTexts(wish);
      const allowed = permitted(wish, {
        plan: issuePolicy.mayPlan(viewer, project),
        backdate: issuePolicy.mayBackdate(viewer, project),
      });
      const change = changeOf(issue, allowed, { actorId: viewer.userId, at });
      const people = await this.reassign(tx, project, issue.id, before, allowed.assigneeIds);
      const mentionedBefore = change.textChanged ? await this.named(issue) : [];
      await this.store(tx, viewer.userId, issue, {
        change,
        people,
        at: allowed.updatedAt ?? at,
        wasTold: allowed.updatedAt,
      });
      emitChange(tx, viewer.userId, issue, { change, people, mentionedBefore, at });
      return this.queries.find(viewer, project, iid, tx);
    });
  }

  /** `check` sees when the issue changed last and may refuse. */
  async remove(
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const { issue } = await this.locked(tx, viewer, project, iid);
      if (!issuePolicy.mayDelete(viewer, project)) throw new Forbidden();
      check(issue.updatedAt);
      await tx.prepared(removeNotes, [issue.id]);
      await tx.manager.delete(Issue, issue.id);
      tx.emit(
        issueDeleted.of({
          aggregateId: issue.id,
          actorId: viewer.userId,
          data: { issue_id: issue.id, issue_iid: issue.iid, project_id: issue.projectId },
        }),
      );
    });
  }

  private async locked(
    tx: Tx,
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
  ): Promise<{ issue: Issue; at: Date }> {
    const { viewerId, isMember, readsConfidential, readsIssues } = readerOf(viewer, project);
    const [row] = readsIssues
      ? await tx.prepared<{ id: number; at: Date }>(lockVisible, [
          project.id,
          viewerId,
          isMember,
          readsConfidential,
          iid,
        ])
      : [];
    if (!row) throw new NotFound('Issue');
    return { issue: await tx.manager.findOneByOrFail(Issue, { id: row.id }), at: row.at };
  }

  private async reassign(
    tx: Tx,
    project: ParentFacts,
    issueId: number,
    before: readonly number[],
    wished: readonly number[] | undefined,
  ): Promise<AssigneeChange> {
    if (wished === undefined) return { added: [], removed: [] };
    const kept = before.filter((id) => wished.includes(id));
    const users = await this.assignees.eligible(project, wished);
    // Who was assigned stays so, although he might not be chosen anew.
    const stays = await this.directory.users(kept.filter((id) => !users.some((user) => user.id === id)));
    return this.assignees.assign(tx, issueId, before, [...users, ...stays.values()]);
  }

  private async store(
    tx: Tx,
    actorId: number,
    issue: Issue,
    o: { change: IssueChange; people: AssigneeChange; at: Date; wasTold: Date | undefined },
  ): Promise<void> {
    const told = systemNotes.assignees(
      o.people.added.map((user) => user.username),
      o.people.removed.map((user) => user.username),
    );
    const bodies = told ? [told, ...o.change.notes] : o.change.notes;
    const isTouched = isChanged(o.change, o.people) || o.wasTold !== undefined;
    if (!isTouched) return;
    await tx.manager.update(Issue, issue.id, { ...o.change.columns, updatedAt: o.at });
    await writeSystemNotes(tx, { issueId: issue.id, projectId: issue.projectId, actorId, bodies, at: o.at });
  }

  /** Ids of the people whom title and description name already; they are not told of it again. */
  private async named(issue: Issue): Promise<number[]> {
    const names = mentionsIn(`${issue.title}\n\n${issue.description ?? ''}`).all;
    return [...(await this.directory.usersByUsername(names)).values()].map((user) => user.id);
  }
}

async function now(tx: Tx): Promise<Date> {
  const [row] = await tx.prepared<{ at: Date }>(moment, []);
  return row!.at;
}

/** The number is taken last, so that the counter's row is locked shortly. Errors: Conflict when a given one is taken. */
async function insertIssue(tx: Tx, fields: Partial<Issue>, given: number | null): Promise<Issue> {
  const projectId = fields.projectId!;
  if (given !== null) await tx.prepared(raiseInternalId, [projectId, given]);
  const iid = given ?? (await nextInternalId(tx, 'issues', projectId));
  const issue = tx.manager.create(Issue, { ...fields, iid });
  try {
    await tx.manager.insert(Issue, issue);
  } catch (error) {
    if (violates(error, 'uq_issues_project_id_iid')) throw new Conflict('Duplicated issue');
    throw error;
  }
  return issue;
}

function isChanged(change: IssueChange, people: AssigneeChange): boolean {
  return Object.keys(change.columns).length > 0 || people.added.length > 0 || people.removed.length > 0;
}

function emitChange(
  tx: Tx,
  actorId: number,
  issue: Issue,
  o: { change: IssueChange; people: AssigneeChange; mentionedBefore: number[]; at: Date },
): void {
  const { change, people, at } = o;
  const data = facts({ ...issue, ...change.columns });
  const about = { aggregateId: issue.id, actorId };
  const { state: _, closedAt: __, closedById: ___, ...besides } = change.columns;
  if (isChanged({ ...change, columns: besides }, people)) {
    tx.emit(
      issueUpdated.of({
        ...about,
        data: {
          ...data,
          text_changed: change.textChanged,
          mentioned_before: o.mentionedBefore,
          added_assignee_ids: people.added.map((user) => user.id),
          removed_assignee_ids: people.removed.map((user) => user.id),
          changed_at: at.toISOString(),
        },
      }),
    );
  }
  if (change.state === 'closed') tx.emit(issueClosed.of({ ...about, data: { ...data, closed_at: at.toISOString() } }));
  if (change.state === 'reopened') {
    tx.emit(issueReopened.of({ ...about, data: { ...data, reopened_at: at.toISOString() } }));
  }
}

function facts(issue: Issue) {
  return {
    issue_id: issue.id,
    issue_iid: issue.iid,
    project_id: issue.projectId,
    author_id: issue.authorId,
    confidential: issue.confidential,
    created_at: issue.createdAt.toISOString(),
  };
}
