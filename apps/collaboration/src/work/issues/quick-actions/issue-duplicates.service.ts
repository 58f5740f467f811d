import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Forbidden, NotModified, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { notePolicy } from '../../../talk/notes/note.policy';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { Issue } from '../issue.entity';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import { IssuesService } from '../issues.service';

/** An issue that is named by where it is and its number there. */
export interface PlacedIssue {
  readonly project: ProjectScope;
  readonly iid: number;
}

/** Issues that say what another one says. Source: reference work-tracking 2.6, 9.1. */
@Injectable()
export class IssueDuplicatesService {
  constructor(private readonly issues: IssuesService) {}

  /**
   * Closes an issue as a duplicate of another, and tells both. Errors: NotFound of either; Forbidden where the one may
   * not be changed or the other not be written on; Refused for an issue and itself; NotModified when it is so already.
   */
  async mark(tx: Tx, viewer: SignedInViewer, named: PlacedIssue, canonical: PlacedIssue): Promise<number> {
    const { issue, at } = await this.issues.locked(tx, viewer, named.project, named.iid);
    const { issue: other } = await this.issues.locked(tx, viewer, canonical.project, canonical.iid);
    if (other.id === issue.id) throw new Refused('an issue is no duplicate of itself', { verbatim: true });
    const subject = { authorId: issue.authorId, assigneeIds: [] };
    if (!issuePolicy.mayEdit(viewer, named.project, subject) || !maySay(viewer, canonical.project, other)) {
      throw new Forbidden();
    }
    if (issue.duplicatedToId === other.id && issue.state === 'closed') throw new NotModified();
    await this.issues.change(tx, viewer, named.project, named.iid, { now: () => ({ stateEvent: 'close' }) });
    await tx.manager.update(Issue, issue.id, { duplicatedToId: other.id, updatedAt: at });
    const by = { actorId: viewer.userId, at };
    const referenceTo = (one: PlacedIssue): string =>
      `${issue.projectId === other.projectId ? '' : one.project.fullPath}#${one.iid}`;
    await this.tell(tx, issue, { ...by, body: systemNotes.duplicateOf(referenceTo(canonical)), of: other });
    await this.tell(tx, other, { ...by, body: systemNotes.hasDuplicate(referenceTo(named)), of: issue });
    return other.id;
  }

  private tell(
    tx: Tx,
    { id, projectId }: Issue,
    o: { readonly actorId: number; readonly at: Date; readonly body: string; readonly of: Issue },
  ): Promise<void> {
    return writeSystemNotes(tx, issueKind, {
      noteableId: id,
      projectId,
      actorId: o.actorId,
      at: o.at,
      bodies: [o.body],
      referenced: { type: issueKind.type, id: o.of.id },
    });
  }
}

/** What is told on the other issue is said by who marks this one. */
function maySay(viewer: SignedInViewer, project: ProjectScope, { discussionLocked }: Issue): boolean {
  if (!notePolicy.mayCreate(viewer, project, false)) return false;
  return discussionLocked !== true || notePolicy.mayCreateLocked(viewer, project);
}
