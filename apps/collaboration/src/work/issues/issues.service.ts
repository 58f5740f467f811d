import { Injectable } from '@nestjs/common';
import { issueCreated, issueEvents } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { prepared, Work } from '@rookery/persistence';
import { putLabels, wishedLabels } from '../../planning/labels/labelling/labelling';
import type { LabelledThing } from '../../planning/labels/labelling/labelling';
import { chosenMilestone, reachedMilestone, tellMilestone } from '../../planning/milestones/assigning/chosen-milestone';
import { mentionsIn } from '../../talk/mentions/mentions';
import { tellOfText } from '../../talk/mentions/referring-texts';
import type { WrittenText } from '../../talk/mentions/referring-texts';
import { placeOf } from '../../base/noteables/planning-place';
import { holdThings } from '../../base/noteables/holding';
import { readerOfNamed } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { NoteLimit } from '../../talk/notes/note-limit';
import { removeNotesOf } from '../../talk/notes/note-removal';
import { tellState, tellWeight } from '../../base/resource-events/states-and-weights';
import type { Changed, ChangedBy } from '../../base/resource-events/states-and-weights';
import { systemNotes, writeSystemNotes } from '../../talk/notes/system-notes';
import { Assignees } from './assignees/assignees';
import type { AssigneeChange } from './assignees/assignees';
import { refuseInConfidentialEpic } from './confidential-epics';
import { changeOf, permitted, wantsMoreThanState } from './issue-change';
import type { IssueChange, IssueWish, WishByIssue } from './issue-change';
import { emitChange, isChanged, issueFacts } from './issue-events';
import type { ChangeAround } from './issue-events';
import { checkTexts, Issue, taskCounts } from './issue.entity';
import { issueKind } from './issue.kind';
import { issuePolicy } from './issue.policy';
import { IssuesQueries } from './issues.queries';
import type { IssueProject } from './issues.queries';
import { seenIssues, VISIBLE_ISSUE } from './seen-issues';
import type { Serving } from './serving/epic-choice';
import { insertIssue, openedAs } from './new-issue';
import type { NewIssue } from './new-issue';

/** What else belongs to an issue that is opened, in the same transaction. */
interface Besides {
  readonly serving?: Serving | undefined;
  readonly first?: (tx: Tx) => Promise<void>;
  readonly then?: (tx: Tx, iid: number) => Promise<void>;
}

const lockVisible = prepared('issues_lock_visible', `${VISIBLE_ISSUE} for no key update`);
/** $1 issue. It, and those that moved to it or say what it says. */
const namedBy = prepared(
  'issues_named_by',
  `select $1::bigint as id where $1::bigint is not null
   union select id from issues where moved_to_id = $1::bigint union select id from issues where duplicated_to_id = $1::bigint`,
);

/** Writing issues; answers are the issue as JSON text. Times are those of the database. Source: reference work-tracking 9.1. */
@Injectable()
export class IssuesService {
  constructor(
    private readonly work: Work,
    private readonly queries: IssuesQueries,
    private readonly assignees: Assignees,
    private readonly directory: Directory,
    private readonly noteLimit: NoteLimit,
  ) {}

  /** Shape: `first` holds what `then` needs, which goes on in the same transaction, with the number of the issue. */
  async create(
    viewer: SignedInViewer,
    project: IssueProject,
    wish: NewIssue,
    { serving, first, then }: Besides = {},
  ): Promise<string> {
    checkTexts(wish);
    const allowed = openedAs(wish, issuePolicy.permits(viewer, project));
    const users = await this.assignees.eligible(viewer, project, allowed.assigneeIds);
    const counts = taskCounts(wish.description);
    const reaches = users.length > 0 || mentionsIn(textsOf(wish)).all.length > 0;
    const number = await this.work.run(async (tx) => {
      if (then) await this.noteLimit.begin(tx, viewer);
      else if (reaches) this.noteLimit.count(tx, viewer);
      const place = await this.placeFor(tx, viewer, project, allowed);
      const milestoneId = reachedMilestone(await chosenMilestone(tx, place, allowed.milestoneId)) ?? null;
      await first?.(tx);
      const serve = await serving?.(tx);
      const wished = await wishedLabels(tx, place, allowed.labels);
      const placed = { ...allowed, ...counts, milestoneId, projectId: project.id };
      const issue = await insertIssue(tx, { ...placed, authorId: viewer.userId });
      await this.assignees.assign(tx, issue.id, [], users);
      const by = { actorId: viewer.userId, at: issue.createdAt };
      const labels = this.noteLimit.countLabels(
        tx,
        viewer,
        await putLabels(tx, labelled(issue.id, project), wished, by),
      );
      await tellMilestone(tx, planned(issue), { from: null, to: milestoneId }, by);
      if (allowed.weight !== null) await tellWeight(tx, planned(issue), allowed.weight, by);
      tx.emit(
        issueCreated.of({
          aggregateId: issue.id,
          actorId: viewer.userId,
          seen: viewer.directory,
          data: { ...issueFacts(issue), assignee_ids: users.map((user) => user.id), label_ids: [...labels.added] },
        }),
      );
      tellOfText(tx, viewer, { ...aboutIssue(issue.id), text: textsOf(wish), at: issue.createdAt });
      await serve?.(issue.id);
      await then?.(tx, issue.iid);
      return issue.iid;
    });
    // Read after the commit: the counter of numbers is locked no longer than the writes take.
    return this.queries.answer(viewer, project, number);
  }

  async update(viewer: SignedInViewer, project: IssueProject, iid: number, wish: IssueWish): Promise<string> {
    await this.work.run((tx) => this.change(tx, viewer, project, iid, { ...wish, now: () => wish }));
    return this.queries.answer(viewer, project, iid);
  }

  /**
   * The same inside a transaction of others. A wish for nothing changes nothing. Errors: NotFound, Forbidden, Invalid;
   * TooManyRequests.
   */
  async change(
    tx: Tx,
    viewer: SignedInViewer,
    project: IssueProject,
    iid: number,
    { labels, milestoneId, serving, now }: WishByIssue,
  ): Promise<void> {
    const permits = issuePolicy.permits(viewer, project);
    const planning = permits.plan ? { labels, milestoneId } : {};
    const place = await this.placeFor(tx, viewer, project, planning);
    const choice = await chosenMilestone(tx, place, planning.milestoneId);
    const serve = await serving?.(tx);
    const { issue, at } = await this.locked(tx, viewer, project, iid);
    const before = await this.assignees.of(tx, issue.id);
    const wish: IssueWish = { ...now({ issue, assigneeIds: before, at }), labels, milestoneId, serving };
    if (Object.values(wish).every((value) => value === undefined)) return;
    const subject = { authorId: issue.authorId, assigneeIds: before };
    const may = wantsMoreThanState(wish) ? issuePolicy.mayEdit : issuePolicy.mayChangeState;
    if (!may(viewer, project, subject)) throw new Forbidden();
    checkTexts(wish);
    const allowed = { ...permitted(wish, permits), milestoneId: reachedMilestone(choice) };
    const change = changeOf(issue, allowed, { actorId: viewer.userId, at });
    const people = await this.reassign(tx, viewer, project, issue.id, before, allowed.assigneeIds);
    const wished = await wishedLabels(tx, place, allowed.labels);
    const by = { actorId: viewer.userId, at };
    await serve?.(issue.id);
    if (change.columns.confidential === false) await refuseInConfidentialEpic(tx, issue.id);
    const relabelled = await putLabels(tx, labelled(issue.id, project), wished, by);
    const around = { people, labels: this.noteLimit.countLabels(tx, viewer, relabelled) };
    await this.tell(tx, issue, change, by);
    const mentionedBefore = change.textChanged ? await this.named(tx, issue) : [];
    await this.store(tx, viewer, issue, { change, around, at, given: allowed.updatedAt });
    emitChange(tx, viewer, issue, { change, around, mentionedBefore, at });
    if (!change.textChanged) return;
    tellOfText(tx, viewer, { ...aboutIssue(issue.id), text: textsOf({ ...issue, ...change.columns }), at });
  }

  /** `check` sees when the issue changed last and may refuse. */
  async remove(
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      // What names it is written too, as it goes.
      const [seen = null] = await seenIssues(tx, viewer, [{ project, iid }]);
      const naming = await tx.prepared<{ id: number }>(namedBy, [seen]);
      await holdThings(
        tx,
        issueKind,
        naming.map(({ id }) => id),
      );
      const { issue } = await this.locked(tx, viewer, project, iid);
      if (!issuePolicy.mayDelete(viewer, project)) throw new Forbidden();
      check(issue.updatedAt);
      await removeNotesOf(tx, issueKind, [issue.id]);
      await tx.manager.delete(Issue, issue.id);
      const { id, iid: number, projectId: project_id, state } = issue;
      tx.emit(issueEvents.deletedOf({ id, iid: number, project_id, state }, viewer.userId, viewer.directory));
    });
  }

  /** The issue that a path names, held until the transaction ends. Errors: NotFound of the issue. */
  async locked(tx: Tx, viewer: SignedInViewer, project: ParentFacts, iid: number): Promise<{ issue: Issue; at: Date }> {
    const { viewerId, isMember, readsConfidential } = readerOfNamed(viewer, {
      kind: issueKind,
      parent: project,
    });
    const values = [project.id, viewerId, isMember, readsConfidential, iid];
    const [row] = await tx.prepared<{ id: number; at: Date }>(lockVisible, values);
    if (!row) throw new NotFound('Issue');
    return { issue: await tx.manager.findOneByOrFail(Issue, { id: row.id }), at: row.at };
  }

  /** Most writes give neither labels nor a milestone, and ask nothing. */
  private async placeFor(
    tx: Tx,
    viewer: SignedInViewer,
    project: IssueProject,
    { labels, milestoneId }: Pick<IssueWish, 'labels' | 'milestoneId'>,
  ): Promise<IssueProject> {
    return labels || milestoneId ? placeOf(tx, viewer, project) : project;
  }

  private async reassign(
    tx: Tx,
    viewer: SignedInViewer,
    project: ParentFacts,
    issueId: number,
    before: readonly number[],
    wished: readonly number[] | undefined,
  ): Promise<AssigneeChange> {
    if (wished === undefined) return { added: [], removed: [] };
    const kept = before.filter((id) => wished.includes(id));
    const users = await this.assignees.eligible(viewer, project, wished, tx);
    // People who were assigned stay so, although they might not be chosen anew.
    const stays = await this.directory.users(
      kept.filter((id) => !users.some((user) => user.id === id)),
      tx,
    );
    return this.assignees.assign(tx, issueId, before, [...users, ...stays.values()]);
  }

  /** What is told as a row of its own. */
  private async tell(tx: Tx, issue: Issue, { columns, state }: IssueChange, by: ChangedBy): Promise<void> {
    const told = { from: issue.milestoneId, to: columns.milestoneId ?? null };
    if (columns.milestoneId !== undefined) await tellMilestone(tx, planned(issue), told, by);
    if (columns.weight !== undefined) await tellWeight(tx, planned(issue), columns.weight, by);
    if (state !== null) await tellState(tx, planned(issue), state, by);
  }

  private async store(
    tx: Tx,
    viewer: SignedInViewer,
    issue: Issue,
    o: { change: IssueChange; around: ChangeAround; at: Date; given: Date | undefined },
  ): Promise<void> {
    const told = systemNotes.assignees(
      o.around.people.added.map((user) => user.username),
      o.around.people.removed.map((user) => user.username),
    );
    const bodies = told ? [told, ...o.change.notes] : o.change.notes;
    if (!isChanged(o.change.columns, o.around) && o.given === undefined) return;
    if (bodies.length > 0) this.noteLimit.count(tx, viewer);
    await tx.manager.update(Issue, issue.id, { ...o.change.columns, updatedAt: o.given ?? o.at });
    const { id: noteableId, projectId } = issue;
    await writeSystemNotes(tx, issueKind, { noteableId, projectId, actorId: viewer.userId, bodies, at: o.at });
  }

  /** Ids of the people whom title and description name already; they are not told of it again. */
  private async named(tx: Tx, issue: Issue): Promise<number[]> {
    const names = mentionsIn(textsOf(issue)).all;
    return [...(await this.directory.usersByUsername(names, tx)).values()].map((user) => user.id);
  }
}

function textsOf({ title, description }: Pick<Issue, 'title' | 'description'>): string {
  return `${title}\n\n${description ?? ''}`;
}

function aboutIssue(id: number): Pick<WrittenText, 'about' | 'noteId'> {
  return { about: { type: issueKind.type, id }, noteId: null };
}

function planned({ id, projectId }: Pick<Issue, 'id' | 'projectId'>): Changed {
  return { type: issueKind.type, id, projectId };
}

function labelled(id: number, project: IssueProject): LabelledThing {
  return { kind: issueKind, id, projectId: project.id };
}
