import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Conflict, Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { CONFIDENTIAL_ISSUES_ONLY } from '../../issues/confidential-epics';
import { issueKind } from '../../issues/issue.kind';
import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import { canReadNoteableRowSql } from '../../../base/noteables/noteable-kinds';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { lockEpic } from '../epic-lock';
import { epicKind } from '../epic.kind';
import { epicPolicy } from '../epic.policy';
import { reorderIds } from '../neighbours';
import type { Neighbours } from '../neighbours';
import { EpicIssuesQueries } from './epic-issues.queries';
import type { EpicKey } from './epic-issues.queries';

const PERSON = { user: '$2::bigint', isAdmin: '$3::boolean', isExternal: '$4::boolean' };
/** $1 issue, $2-$4 the viewer. Locks the issue until the transaction ends. */
const lockIssue = prepareStatement(
  'epic_issues_lock_issue',
  `select i.id, i.iid, i.project_id, i.confidential, a.full_path, a.is_member, living.archived, living.namespace_id
   from issues i join directory_projects living on living.id = i.project_id
   cross join lateral ${projectAccessRowSql('i.project_id', PERSON)} a
   where i.id = $1::bigint and ${canReadNoteableRowSql(issueKind, 'a', PERSON.user)} for no key update of i`,
);
/** $1 issue. Its link, with its epic and the group of that. */
const linkOf = prepareStatement(
  'epic_issues_of_issue',
  `select l.id, l.epic_id, e.iid, e.group_id, g.full_path from epic_issues l join epics e on e.id = l.epic_id
   left join directory_namespaces g on g.id = e.group_id where l.issue_id = $1::bigint`,
);
/**
 * $1 issue, $2 epics, $3 group and $4 number of one more. Locks the current epic of the issue and the target epics,
 * always ordered by id.
 */
const lockEnds = prepareStatement(
  'epic_issues_lock_ends',
  `select e.id from epics e where e.id in (select l.epic_id from epic_issues l where l.issue_id = $1::bigint
     union all select unnest($2::bigint[])
     union all select named.id from epics named where named.group_id = $3::bigint and named.iid = $4::bigint)
   order by e.id for no key update`,
);
const deleteLink = prepareStatement('epic_issues_unlink', 'delete from epic_issues where id = $1::bigint returning 1');
/** $1 epic, $2 issue. Adds the issue as the first. */
const insertLink = prepareStatement(
  'epic_issues_link',
  `insert into epic_issues (epic_id, issue_id, relative_position)
   select $1::bigint, $2::bigint, coalesce(min(l.relative_position) - 1, 0) from epic_issues l where l.epic_id = $1::bigint
   returning id`,
);
const orderedLinkIds = prepareStatement(
  'epic_issues_ordered',
  'select l.id from epic_issues l where l.epic_id = $1::bigint order by l.relative_position, l.id',
);
/** $1 links in their new order. */
const setLinkPositions = prepareStatement(
  'epic_issues_number',
  `update epic_issues l set relative_position = wanted.place
   from unnest($1::bigint[]) with ordinality wanted (id, place)
   where l.id = wanted.id and l.relative_position <> wanted.place`,
);

interface LockedIssueRow {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly confidential: boolean;
  readonly full_path: string;
  readonly is_member: boolean;
  readonly archived: boolean;
  readonly namespace_id: number;
}

interface EpicIssueLinkRow {
  readonly id: number;
  readonly epic_id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly full_path: string | null;
}

type ReferencedEpic = Pick<EpicIssueLinkRow, 'iid' | 'group_id' | 'full_path'>;

/** An issue and its target epics, by id, or one by group and number. */
interface IssueAndEpicsToLock {
  readonly issueId: number | null;
  readonly epicIds?: readonly number[];
  readonly group?: { readonly id: number };
  readonly iid?: number;
}

/** An epic that is locked until the transaction ends, with facts for the viewer. */
export interface LockedEpic {
  readonly id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly confidential: boolean;
  readonly full_path: string;
  readonly may_write: boolean;
  readonly at: Date;
}

/** Refusal for an issue that is in the epic already. */
export const ASSIGNED = 'Issue(s) already assigned';

/** Adds, removes and orders issues of epics. Methods return JSON text. Source: reference work-tracking 5.6. */
@Injectable()
export class EpicIssuesService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: EpicIssuesQueries,
    private readonly noteLimit: NoteLimit,
  ) {}

  /**
   * Adds an issue to an epic; it leaves its previous epic. Errors: NotFound of the epic or the issue; Forbidden;
   * Conflict.
   */
  async assign(viewer: SignedInViewer, named: EpicKey, issueId: number): Promise<string> {
    await this.directory.requireFresh(viewer);
    return this.work.run(async (tx) => {
      await this.startChange(tx, viewer, { issueId, ...named });
      const epic = await this.lockEpicByKey(tx, viewer, named);
      const linkId = await this.addIssue(tx, viewer, epic, issueId);
      if (linkId === null) throw new Conflict(ASSIGNED);
      return (await this.queries.findLink(tx, viewer, named, linkId)).json;
    });
  }

  /** Starts a change of an issue's epic: counts it as a note and locks all rows. */
  async startChange(tx: Tx, viewer: SignedInViewer, ends: IssueAndEpicsToLock): Promise<void> {
    this.noteLimit.countNotes(tx, viewer);
    await this.lockEpics(tx, viewer, ends);
  }

  /** Locks the issue first, as all its writers do, and then the epics by id, so that no deadlock occurs. */
  async lockEpics(
    tx: Tx,
    viewer: SignedInViewer,
    { issueId, epicIds = [], group, iid }: IssueAndEpicsToLock,
  ): Promise<void> {
    if (issueId !== null) await lockVisibleIssue(tx, viewer, issueId);
    await tx.prepared(lockEnds, [issueId, epicIds, group?.id ?? null, iid ?? null]);
  }

  /**
   * Adds an issue to a locked epic. Returns the id of the link, or null if the issue is in the epic already.
   * `becomesConfidential`: the same transaction makes the issue confidential afterwards. Errors: NotFound of the issue;
   * Forbidden; Conflict.
   */
  async addIssue(
    tx: Tx,
    viewer: SignedInViewer,
    epic: LockedEpic,
    issueId: number,
    becomesConfidential = false,
  ): Promise<number | null> {
    const issue = await this.lockPermittedIssue(tx, viewer, epic, issueId);
    const isConfidential = issue.confidential || becomesConfidential;
    if (epic.confidential && !isConfidential) throw new Conflict(CONFIDENTIAL_ISSUES_ONLY);
    const [old] = await tx.prepared<EpicIssueLinkRow>(linkOf, [issueId]);
    if (old?.epic_id === epic.id) return null;
    if (old) {
      await tx.prepared(deleteLink, [old.id]);
      await this.writeIssueAndEpicNotes(tx, viewer, issue, { ...old, id: old.epic_id, at: epic.at }, 'removed');
    }
    const [created] = await tx.prepared<{ id: number }>(insertLink, [epic.id, issueId]);
    await this.writeIssueAndEpicNotes(tx, viewer, issue, epic, 'added');
    return created!.id;
  }

  /**
   * Removes an issue from a locked epic. Returns false if the issue is not in the epic. Errors: NotFound of the issue;
   * Forbidden.
   */
  async remove(tx: Tx, viewer: SignedInViewer, epic: LockedEpic, issueId: number): Promise<boolean> {
    const issue = await this.lockPermittedIssue(tx, viewer, epic, issueId);
    const [current] = await tx.prepared<EpicIssueLinkRow>(linkOf, [issueId]);
    if (current?.epic_id !== epic.id) return false;
    await tx.prepared(deleteLink, [current.id]);
    await this.writeIssueAndEpicNotes(tx, viewer, issue, epic, 'removed');
    return true;
  }

  /** Deletes a link and returns it. Errors: NotFound of the epic or of the link; Forbidden. */
  async removeLink(viewer: SignedInViewer, named: EpicKey, linkId: number): Promise<string> {
    await this.directory.requireFresh(viewer);
    return this.work.run(async (tx) => {
      const { issueId, json } = await this.queries.findLink(tx, viewer, named, linkId);
      await this.startChange(tx, viewer, { issueId, ...named });
      const epic = await this.lockEpicByKey(tx, viewer, named);
      const issue = await this.lockPermittedIssue(tx, viewer, epic, issueId);
      // Another request can move the issue to another epic while this one waits for the lock.
      if ((await tx.prepared(deleteLink, [linkId])).length === 0) throw new NotFound();
      await this.writeIssueAndEpicNotes(tx, viewer, issue, epic, 'removed');
      return json;
    });
  }

  /**
   * Moves an issue of an epic between two others. Errors: NotFound of the epic or of the link; Forbidden; Refused for
   * an impossible position.
   */
  async reorder(viewer: SignedInViewer, named: EpicKey, linkId: number, neighbours: Neighbours): Promise<void> {
    await this.directory.requireFresh(viewer);
    await this.work.run(async (tx) => {
      const { issueId } = await this.queries.findLink(tx, viewer, named, linkId);
      await this.lockEpics(tx, viewer, { issueId, ...named });
      const epic = await this.lockEpicByKey(tx, viewer, named);
      await this.lockPermittedIssue(tx, viewer, epic, issueId);
      await this.assertNeighboursVisible(tx, viewer, named, neighbours);
      const links = (await tx.prepared<{ id: number }>(orderedLinkIds, [epic.id])).map(({ id }) => id);
      if (!links.includes(linkId)) throw new NotFound();
      await tx.prepared(setLinkPositions, [reorderIds(links, linkId, neighbours, createIssueMoveRefusal)]);
    });
  }

  private async lockEpicByKey(tx: Tx, viewer: SignedInViewer, { group, iid }: EpicKey): Promise<LockedEpic> {
    const { epic, at } = await lockEpic(tx, viewer, group, { by: 'iid', named: iid });
    const where = { group_id: group.id, full_path: group.fullPath };
    return {
      id: epic.id,
      iid,
      confidential: epic.confidential,
      ...where,
      may_write: epicPolicy.mayWrite(viewer, group),
      at,
    };
  }

  /** Refuses a neighbour that the caller may not see in the same way as a missing one. */
  private async assertNeighboursVisible(
    tx: Tx,
    viewer: SignedInViewer,
    named: EpicKey,
    neighbours: Neighbours,
  ): Promise<void> {
    for (const id of [neighbours.before, neighbours.after]) {
      if (id === undefined) continue;
      await this.queries.findLink(tx, viewer, named, id).catch((error: unknown) => {
        throw error instanceof NotFound ? createIssueMoveRefusal() : error;
      });
    }
  }

  /**
   * Locks the issue and checks permissions: the caller writes epics in the group, or has a role in the issue's project.
   */
  private async lockPermittedIssue(
    tx: Tx,
    viewer: SignedInViewer,
    { may_write: mayWrite }: LockedEpic,
    issueId: number,
  ): Promise<LockedIssueRow> {
    const issue = await lockVisibleIssue(tx, viewer, issueId);
    if (!issue) throw new NotFound(issueKind.resource);
    if (issue.archived || !(mayWrite || issue.is_member)) throw new Forbidden();
    return issue;
  }

  /** Writes a system note on the issue and on the epic. */
  private async writeIssueAndEpicNotes(
    tx: Tx,
    viewer: SignedInViewer,
    issue: LockedIssueRow,
    epic: ReferencedEpic & Pick<LockedEpic, 'id' | 'at'>,
    verb: 'added' | 'removed',
  ): Promise<void> {
    this.noteLimit.countNotes(tx, viewer);
    const by = { actorId: viewer.userId, at: epic.at };
    const onEpic = systemNotes.epicIssue(verb, `${issue.full_path}#${issue.iid}`);
    const onIssue = systemNotes.issueEpic(verb, renderEpicReferenceFromIssue(epic, issue));
    await writeSystemNotes(tx, epicKind, {
      ...{ noteableId: epic.id, projectId: null, bodies: [onEpic], ...by },
      referenced: { type: issueKind.type, id: issue.id },
    });
    await writeSystemNotes(tx, issueKind, {
      ...{ noteableId: issue.id, projectId: issue.project_id, bodies: [onIssue], ...by },
      referenced: { type: epicKind.type, id: epic.id },
    });
  }
}

async function lockVisibleIssue(tx: Tx, viewer: SignedInViewer, issueId: number): Promise<LockedIssueRow | undefined> {
  const values = [issueId, viewer.userId, viewer.isAdmin, viewer.isExternal];
  const [issue] = await tx.prepared<LockedIssueRow>(lockIssue, values);
  return issue;
}

/** Reference to an epic from an issue; without the path if both are in one group. */
function renderEpicReferenceFromIssue(
  { iid, group_id: groupId, full_path: path }: ReferencedEpic,
  issue: LockedIssueRow,
): string {
  return `${groupId === issue.namespace_id ? '' : (path ?? '')}&${iid}`;
}

function createIssueMoveRefusal(): Refused {
  return new Refused('Issue could not be moved!', { underError: true });
}
