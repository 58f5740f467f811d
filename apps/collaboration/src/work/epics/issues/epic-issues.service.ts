import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Conflict, Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepared, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { CONFIDENTIAL_ISSUES_ONLY } from '../../issues/confidential-epics';
import { issueKind } from '../../issues/issue.kind';
import { projectAccessSql } from '../../../base/noteables/access-sql';
import { readableSql } from '../../../base/noteables/noteable-kinds';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { lockEpic } from '../epic-lock';
import { epicKind } from '../epic.kind';
import { epicPolicy } from '../epic.policy';
import { placed } from '../neighbours';
import type { Neighbours } from '../neighbours';
import { EpicIssuesQueries } from './epic-issues.queries';
import type { NamedEpic } from './epic-issues.queries';

const PERSON = { user: '$2::bigint', isAdmin: '$3::boolean', isExternal: '$4::boolean' };
/** $1 issue, $2-$4 who reads it. It stays as it is until the transaction ends. */
const lockIssue = prepared(
  'epic_issues_lock_issue',
  `select i.id, i.iid, i.project_id, i.confidential, a.full_path, a.is_member, living.archived, living.namespace_id
   from issues i join directory_projects living on living.id = i.project_id
   cross join lateral ${projectAccessSql('i.project_id', PERSON)} a
   where i.id = $1::bigint and ${readableSql(issueKind, 'a', PERSON.user)} for no key update of i`,
);
/** $1 issue. What it serves, with the group of that epic. */
const linkOf = prepared(
  'epic_issues_of_issue',
  `select l.id, l.epic_id, e.iid, e.group_id, g.full_path from epic_issues l join epics e on e.id = l.epic_id
   left join directory_namespaces g on g.id = e.group_id where l.issue_id = $1::bigint`,
);
/** $1 issue, $2 epics, $3 group and $4 number of another. What the issue serves and is to serve, in one order whoever asks. */
const lockEnds = prepared(
  'epic_issues_lock_ends',
  `select e.id from epics e where e.id in (select l.epic_id from epic_issues l where l.issue_id = $1::bigint
     union all select unnest($2::bigint[])
     union all select named.id from epics named where named.group_id = $3::bigint and named.iid = $4::bigint)
   order by e.id for no key update`,
);
const unlink = prepared('epic_issues_unlink', 'delete from epic_issues where id = $1::bigint returning 1');
/** $1 epic, $2 issue. Before all others. */
const link = prepared(
  'epic_issues_link',
  `insert into epic_issues (epic_id, issue_id, relative_position)
   select $1::bigint, $2::bigint, coalesce(min(l.relative_position) - 1, 0) from epic_issues l where l.epic_id = $1::bigint
   returning id`,
);
const ordered = prepared(
  'epic_issues_ordered',
  'select l.id from epic_issues l where l.epic_id = $1::bigint order by l.relative_position, l.id',
);
/** $1 links in their new order. */
const number = prepared(
  'epic_issues_number',
  `update epic_issues l set relative_position = wanted.place
   from unnest($1::bigint[]) with ordinality wanted (id, place)
   where l.id = wanted.id and l.relative_position <> wanted.place`,
);

interface IssueRow {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly confidential: boolean;
  readonly full_path: string;
  readonly is_member: boolean;
  readonly archived: boolean;
  readonly namespace_id: number;
}

interface LinkRow {
  readonly id: number;
  readonly epic_id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly full_path: string | null;
}

/** An issue, and the epics that it is to serve by their ids or by the group and the number of one. */
interface Ends {
  readonly issueId: number | null;
  readonly epicIds?: readonly number[];
  readonly group?: { readonly id: number };
  readonly iid?: number;
}

/** An epic that is held until the transaction ends, as the caller knows it. */
export interface HeldEpic {
  readonly id: number;
  readonly iid: number;
  readonly group_id: number;
  readonly confidential: boolean;
  readonly full_path: string;
  readonly may_write: boolean;
  readonly at: Date;
}

/** What is said of an issue that serves the epic already. */
export const ASSIGNED = 'Issue(s) already assigned';

/** Which issues serve an epic, and in what order; answers are JSON text. Source: reference work-tracking 5.6. */
@Injectable()
export class EpicIssuesService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: EpicIssuesQueries,
    private readonly noteLimit: NoteLimit,
  ) {}

  /** Of another epic it is taken. Errors: NotFound of the epic or the issue; Forbidden; Conflict. */
  async assign(viewer: SignedInViewer, named: NamedEpic, issueId: number): Promise<string> {
    await this.directory.fresh(viewer);
    return this.work.run(async (tx) => {
      await this.begin(tx, viewer, { issueId, ...named });
      const held = await this.held(tx, viewer, named);
      const linkId = await this.put(tx, viewer, held, issueId);
      if (linkId === null) throw new Conflict(ASSIGNED);
      return (await this.queries.one(tx, viewer, named, linkId)).json;
    });
  }

  /** Before a change of what an issue serves: it counts as a note, and all is held. */
  async begin(tx: Tx, viewer: SignedInViewer, ends: Ends): Promise<void> {
    this.noteLimit.count(tx, viewer);
    await this.hold(tx, viewer, ends);
  }

  /** The issue is held first, as all who write it do, and then the epics by their ids: nobody waits in a ring. */
  async hold(tx: Tx, viewer: SignedInViewer, { issueId, epicIds = [], group, iid }: Ends): Promise<void> {
    if (issueId !== null) await lockedIssue(tx, viewer, issueId);
    await tx.prepared(lockEnds, [issueId, epicIds, group?.id ?? null, iid ?? null]);
  }

  /**
   * Puts an issue into an epic that is held. Shape: the id of the link, null where it is there already.
   * Errors: NotFound of the issue; Forbidden; Conflict.
   */
  async put(tx: Tx, viewer: SignedInViewer, epic: HeldEpic, issueId: number): Promise<number | null> {
    const issue = await this.related(tx, viewer, epic, issueId);
    if (epic.confidential && !issue.confidential) throw new Conflict(CONFIDENTIAL_ISSUES_ONLY);
    const [old] = await tx.prepared<LinkRow>(linkOf, [issueId]);
    if (old?.epic_id === epic.id) return null;
    const { at } = epic;
    if (old) {
      await tx.prepared(unlink, [old.id]);
      await this.tell(tx, viewer, issue, { epicId: old.epic_id, ref: referenceOf(old, issue), at }, 'removed');
    }
    const [made] = await tx.prepared<{ id: number }>(link, [epic.id, issueId]);
    await this.tell(tx, viewer, issue, { epicId: epic.id, ref: referenceOf(epic, issue), at }, 'added');
    return made!.id;
  }

  /** Takes an issue out of an epic that is held. Shape: false where it is not there. Errors: NotFound of the issue; Forbidden. */
  async takeOut(tx: Tx, viewer: SignedInViewer, epic: HeldEpic, issueId: number): Promise<boolean> {
    const issue = await this.related(tx, viewer, epic, issueId);
    const [served] = await tx.prepared<LinkRow>(linkOf, [issueId]);
    if (served?.epic_id !== epic.id) return false;
    await tx.prepared(unlink, [served.id]);
    await this.tell(tx, viewer, issue, { epicId: epic.id, ref: referenceOf(epic, issue), at: epic.at }, 'removed');
    return true;
  }

  /** Answers the link as it was. Errors: NotFound of the epic or of the link; Forbidden. */
  async remove(viewer: SignedInViewer, named: NamedEpic, linkId: number): Promise<string> {
    await this.directory.fresh(viewer);
    return this.work.run(async (tx) => {
      const { issueId, json } = await this.queries.one(tx, viewer, named, linkId);
      await this.begin(tx, viewer, { issueId, ...named });
      const epic = await this.held(tx, viewer, named);
      const issue = await this.related(tx, viewer, epic, issueId);
      // It went to another epic while the issue was waited for.
      if ((await tx.prepared(unlink, [linkId])).length === 0) throw new NotFound();
      await this.tell(tx, viewer, issue, { epicId: epic.id, ref: referenceOf(epic, issue), at: epic.at }, 'removed');
      return json;
    });
  }

  /** Errors: NotFound of the epic or of the link; Forbidden; Refused where there is no such place. */
  async reorder(viewer: SignedInViewer, named: NamedEpic, linkId: number, wish: Neighbours): Promise<void> {
    await this.directory.fresh(viewer);
    await this.work.run(async (tx) => {
      const { issueId } = await this.queries.one(tx, viewer, named, linkId);
      await this.hold(tx, viewer, { issueId, ...named });
      const epic = await this.held(tx, viewer, named);
      await this.related(tx, viewer, epic, issueId);
      await this.refuseUnseen(tx, viewer, named, wish);
      const links = (await tx.prepared<{ id: number }>(ordered, [epic.id])).map(({ id }) => id);
      if (!links.includes(linkId)) throw new NotFound();
      await tx.prepared(number, [placed(links, linkId, wish, stuck)]);
    });
  }

  private async held(tx: Tx, viewer: SignedInViewer, { group, iid }: NamedEpic): Promise<HeldEpic> {
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

  /** Beside a link that the caller does not see nothing is put, as if it were not there. */
  private async refuseUnseen(tx: Tx, viewer: SignedInViewer, named: NamedEpic, wish: Neighbours): Promise<void> {
    for (const id of [wish.before, wish.after]) {
      if (id === undefined) continue;
      await this.queries.one(tx, viewer, named, id).catch((error: unknown) => {
        throw error instanceof NotFound ? stuck() : error;
      });
    }
  }

  /** The issue, where the caller may say what it serves: whoever writes epics there, or has a role in its project. */
  private async related(
    tx: Tx,
    viewer: SignedInViewer,
    { may_write: mayWrite }: HeldEpic,
    issueId: number,
  ): Promise<IssueRow> {
    const issue = await lockedIssue(tx, viewer, issueId);
    if (!issue) throw new NotFound(issueKind.resource);
    if (issue.archived || !(mayWrite || issue.is_member)) throw new Forbidden();
    return issue;
  }

  /** A system note on each side. */
  private async tell(
    tx: Tx,
    viewer: SignedInViewer,
    issue: IssueRow,
    { epicId, ref, at }: { readonly epicId: number; readonly ref: string; readonly at: Date },
    verb: 'added' | 'removed',
  ): Promise<void> {
    this.noteLimit.count(tx, viewer);
    const by = { actorId: viewer.userId, at };
    const onEpic = systemNotes.epicIssue(verb, `${issue.full_path}#${issue.iid}`);
    await writeSystemNotes(tx, epicKind, {
      ...{ noteableId: epicId, projectId: null, bodies: [onEpic], ...by },
      referenced: { type: issueKind.type, id: issue.id },
    });
    await writeSystemNotes(tx, issueKind, {
      ...{ noteableId: issue.id, projectId: issue.project_id, bodies: [systemNotes.issueEpic(verb, ref)], ...by },
      referenced: { type: epicKind.type, id: epicId },
    });
  }
}

async function lockedIssue(tx: Tx, viewer: SignedInViewer, issueId: number): Promise<IssueRow | undefined> {
  const values = [issueId, viewer.userId, viewer.isAdmin, viewer.isExternal];
  const [issue] = await tx.prepared<IssueRow>(lockIssue, values);
  return issue;
}

/** An epic as an issue names it: shortly where both lie in one group. */
function referenceOf(
  { iid, group_id: groupId, full_path: path }: Pick<LinkRow, 'iid' | 'group_id' | 'full_path'>,
  issue: IssueRow,
): string {
  return `${groupId === issue.namespace_id ? '' : (path ?? '')}&${iid}`;
}

function stuck(): Refused {
  return new Refused('Issue could not be moved!', { underError: true });
}
