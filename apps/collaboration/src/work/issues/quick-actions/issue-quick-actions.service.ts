import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { issueKind } from '../issue.kind';
import { IssuesService } from '../issues.service';
import type { NewIssue } from '../new-issue';
import { EpicAssignments } from '../epic/epic-assignment';
import type { OpenThreads } from '../follow-ups/threads-to-resolve';
import { hasConfidentialCommand } from './common-actions';

/** Creates issues with quick actions in their description. Source: reference work-tracking 2.6. */
@Injectable()
export class IssueQuickActionsService {
  constructor(
    private readonly issues: IssuesService,
    private readonly actions: QuickActionsService,
    private readonly epics: EpicAssignments,
  ) {}

  /**
   * Creates an issue. The commands of the description run on it in the same transaction, and are removed from the
   * description. An issue without one describes the threads that it follows up.
   */
  async create(
    viewer: SignedInViewer,
    project: ProjectScope,
    input: NewIssue,
    { epicId, followUp }: { readonly epicId?: number | null | undefined; readonly followUp?: OpenThreads | null } = {},
  ): Promise<string> {
    const epicAssignment = await this.epics.prepare(viewer, { project, iid: null }, epicId);
    const { commands, rest } = this.actions.readCommands(issueKind, input.description ?? '');
    const description = input.description === null ? (followUp?.describe() ?? null) : rest;
    const confidential = input.confidential || hasConfidentialCommand(commands);
    const issue = { ...input, description, confidential };
    const resolve = followUp && ((tx: Tx, iid: number): Promise<void> => followUp.resolve(tx, iid));
    if (commands.length === 0)
      return this.issues.create(viewer, project, issue, { epicAssignment, ...(resolve && { finish: resolve }) });
    const asking = { viewer, kind: issueKind, parent: project, isNew: true, epicId } as const;
    const planned = await this.actions.planActions(asking, commands);
    const lock = (tx: Tx): Promise<void> => planned.lock(tx, null);
    const finish = async (tx: Tx, iid: number): Promise<void> => {
      await planned.execute(tx, { kind: issueKind, parent: project, by: 'iid', named: iid });
      await resolve?.(tx, iid);
    };
    return this.issues.create(viewer, project, issue, { epicAssignment, lock, finish });
  }
}
