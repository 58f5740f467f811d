import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { issueKind } from '../issue.kind';
import { IssuesService } from '../issues.service';
import type { NewIssue } from '../new-issue';
import { EpicChoice } from '../serving/epic-choice';
import { opensConfidential } from './common-actions';

/** Opening issues whose description asks for more. Source: reference work-tracking 2.6. */
@Injectable()
export class OpeningService {
  constructor(
    private readonly issues: IssuesService,
    private readonly actions: QuickActionsService,
    private readonly epics: EpicChoice,
  ) {}

  /** What the description asks for is carried out on the new issue, in the same transaction, and is no part of it. */
  async open(viewer: SignedInViewer, project: ProjectScope, wish: NewIssue, epicId?: number | null): Promise<string> {
    const serving = await this.epics.wished(viewer, { project, iid: null }, epicId);
    const { commands, rest } = this.actions.read(issueKind, wish.description ?? '');
    const description = wish.description === null ? null : rest;
    const confidential = wish.confidential || opensConfidential(commands);
    const opened = { ...wish, description, confidential };
    if (commands.length === 0) return this.issues.create(viewer, project, opened, { serving });
    const asking = { viewer, kind: issueKind, parent: project, isNew: true, epicId } as const;
    const planned = await this.actions.plan(asking, commands);
    const first = (tx: Tx): Promise<void> => planned.hold(tx, null);
    const then = async (tx: Tx, iid: number): Promise<void> => {
      await planned.carryOut(tx, { kind: issueKind, parent: project, by: 'iid', named: iid });
    };
    return this.issues.create(viewer, project, opened, { serving, first, then });
  }
}
