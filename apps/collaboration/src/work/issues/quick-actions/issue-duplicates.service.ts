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

/** An issue named by its project and its number there. */
export interface IssueKey {
  readonly project: ProjectScope;
  readonly iid: number;
}

/** Marks issues as duplicates. Source: reference work-tracking 2.6, 9.1. */
@Injectable()
export class IssueDuplicatesService {
  constructor(private readonly issues: IssuesService) {}

  /**
   * Closes an issue as a duplicate of another, and writes a system note on both. Errors: NotFound of either; Forbidden
   * if the caller may not change the first or comment on the other; Refused for an issue and itself; NotModified if it
   * is a duplicate already.
   */
  async markDuplicate(tx: Tx, viewer: SignedInViewer, named: IssueKey, canonical: IssueKey): Promise<number> {
    const { issue, at } = await this.issues.lockIssue(tx, viewer, named.project, named.iid);
    const { issue: other } = await this.issues.lockIssue(tx, viewer, canonical.project, canonical.iid);
    if (other.id === issue.id) throw new Refused('an issue is no duplicate of itself', { verbatim: true });
    const subject = { authorId: issue.authorId, assigneeIds: [] };
    if (!issuePolicy.mayEdit(viewer, named.project, subject) || !mayComment(viewer, canonical.project, other)) {
      throw new Forbidden();
    }
    if (issue.duplicatedToId === other.id && issue.state === 'closed') throw new NotModified();
    await this.issues.change(tx, viewer, named.project, named.iid, { resolve: () => ({ stateEvent: 'close' }) });
    await tx.manager.update(Issue, issue.id, { duplicatedToId: other.id, updatedAt: at });
    const by = { actorId: viewer.userId, at };
    const referenceTo = (one: IssueKey): string =>
      `${issue.projectId === other.projectId ? '' : one.project.fullPath}#${one.iid}`;
    await this.writeDuplicateNote(tx, issue, {
      ...by,
      body: systemNotes.duplicateOf(referenceTo(canonical)),
      of: other,
    });
    await this.writeDuplicateNote(tx, other, { ...by, body: systemNotes.hasDuplicate(referenceTo(named)), of: issue });
    return other.id;
  }

  private writeDuplicateNote(
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

/** Checks that the caller may write a note on the other issue, since its system note names the caller as author. */
function mayComment(viewer: SignedInViewer, project: ProjectScope, { discussionLocked }: Issue): boolean {
  if (!notePolicy.mayCreate(viewer, project, false)) return false;
  return discussionLocked !== true || notePolicy.mayCreateLocked(viewer, project);
}
