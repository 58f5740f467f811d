import { Injectable } from '@nestjs/common';
import { issueCreated, issueDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { prepared, Work } from '@rookery/persistence';
import { mentionsIn } from '../mentions/mentions';
import { visibleIssueSql } from '../noteables/noteable-kinds';
import { readerOf } from '../noteables/reader';
import type { ParentFacts } from '../noteables/reader';
import { systemNotes, writeSystemNotes } from '../notes/system-notes';
import { Assignees } from '../assignees/assignees';
import type { AssigneeChange } from '../assignees/assignees';
import { changeOf, permitted, wantsMoreThanState } from './issue-change';
import type { IssueChange, IssueWish } from './issue-change';
import { emitChange, isChanged, issueFacts } from './issue-events';
import { checkTexts, Issue, taskCounts } from './issue.entity';
import { issuePolicy } from './issue.policy';
import { IssuesQueries } from './issues.queries';
import { insertIssue } from './new-issue';
import type { NewIssue } from './new-issue';

const lockVisible = prepared(
  'issues_lock_visible',
  `select i.id, now() as at from issues i where i.project_id = $1::bigint and i.iid = $5::bigint and ${visibleIssueSql(
    'i',
    { viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: '$4::boolean' },
  )} for update`,
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
    const allowed = {
      ...wish,
      dueOn: mayPlan ? wish.dueOn : null,
      discussionLocked: mayPlan ? wish.discussionLocked : null,
      createdAt: mayBackdate ? wish.createdAt : null,
      iid: mayBackdate ? wish.iid : null,
    };
    const counts = taskCounts(wish.description);
    const number = await this.work.run(async (tx) => {
      const issue = await insertIssue(tx, { ...allowed, ...counts, projectId: project.id, authorId: viewer.userId });
      await this.assignees.assign(tx, issue.id, [], users);
      tx.emit(
        issueCreated.of({
          aggregateId: issue.id,
          actorId: viewer.userId,
          data: { ...issueFacts(issue), assignee_ids: users.map((user) => user.id) },
        }),
      );
      return issue.iid;
    });
    // Read after the commit: the counter of numbers is locked no longer than the writes take.
    return this.queries.answer(viewer, project, number);
  }

  async edit(viewer: SignedInViewer, project: ParentFacts, iid: number, wish: IssueWish): Promise<string> {
    await this.work.run(async (tx) => {
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
      const mentionedBefore = change.textChanged ? await this.named(tx, issue) : [];
      await this.store(tx, viewer.userId, issue, {
        change,
        people,
        at,
        given: allowed.updatedAt,
      });
      emitChange(tx, viewer.userId, issue, { change, people, mentionedBefore, at });
    });
    return this.queries.answer(viewer, project, iid);
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
          data: { issue_id: issue.id, issue_iid: issue.iid, project_id: issue.projectId, state: issue.state },
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
    const users = await this.assignees.eligible(project, wished, tx);
    // Who was assigned stays so, although he might not be chosen anew.
    const stays = await this.directory.users(
      kept.filter((id) => !users.some((user) => user.id === id)),
      tx,
    );
    return this.assignees.assign(tx, issueId, before, [...users, ...stays.values()]);
  }

  private async store(
    tx: Tx,
    actorId: number,
    issue: Issue,
    o: { change: IssueChange; people: AssigneeChange; at: Date; given: Date | undefined },
  ): Promise<void> {
    const told = systemNotes.assignees(
      o.people.added.map((user) => user.username),
      o.people.removed.map((user) => user.username),
    );
    const bodies = told ? [told, ...o.change.notes] : o.change.notes;
    if (!isChanged(o.change, o.people) && o.given === undefined) return;
    await tx.manager.update(Issue, issue.id, { ...o.change.columns, updatedAt: o.given ?? o.at });
    await writeSystemNotes(tx, { issueId: issue.id, projectId: issue.projectId, actorId, bodies, at: o.at });
  }

  /** Ids of the people whom title and description name already; they are not told of it again. */
  private async named(tx: Tx, issue: Issue): Promise<number[]> {
    const names = mentionsIn(`${issue.title}\n\n${issue.description ?? ''}`).all;
    return [...(await this.directory.usersByUsername(names, tx)).values()].map((user) => user.id);
  }
}
