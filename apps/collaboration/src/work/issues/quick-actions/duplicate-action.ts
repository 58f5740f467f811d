import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { executeCommandsInSavepoints } from '../../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { issueKind } from '../issue.kind';
import { findVisibleIssueIds } from '../visible-issues';
import { IssueDuplicatesService } from './issue-duplicates.service';
import type { IssueKey } from './issue-duplicates.service';

type ProjectParent = Extract<NoteableWithParent['parent'], { readonly kind: 'project' }>;
type CanonicalIssue = IssueKey | { readonly why: string };

/** The quick action that closes an issue as a duplicate. Source: reference work-tracking 2.6. */
@Injectable()
export class DuplicateIssueQuickAction {
  constructor(
    actions: QuickActionsService,
    private readonly duplicates: IssueDuplicatesService,
    private readonly directory: Directory,
  ) {
    actions.declareSet({
      names: ['duplicate'],
      isForExistingOnly: true,
      supportsKind: (kind) => kind === issueKind,
      plan: (asking, commands) => this.planDuplicateActions(asking, commands),
    });
  }

  private async planDuplicateActions(
    { viewer, parent }: ActionContext,
    commands: readonly Command[],
  ): Promise<ExecuteActions> {
    const here = parent as ProjectParent;
    const named: CanonicalIssue[] = [];
    for (const { argument } of commands) named.push(await this.findCanonicalIssue(viewer, here, argument));
    const found = named.filter((one) => 'project' in one);
    const carryOut: ExecuteActions = (tx, on) =>
      executeCommandsInSavepoints(tx, commands, async (_, index): Promise<ActionResult> => {
        const canonical = named[index]!;
        if ('why' in canonical) return canonical;
        const id = await this.duplicates.markDuplicate(tx, viewer, { project: here, iid: on.named }, canonical);
        const { project, iid } = canonical;
        const reference = `${project.id === here.id ? '' : project.fullPath}#${iid}`;
        return { said: `Closed this issue as a duplicate of ${reference}.`, changes: { canonical_issue_id: id } };
      });
    const holds: ExecuteActions['holds'] = {
      things: (tx, on) =>
        findVisibleIssueIds(tx, viewer, [...(on ? [{ project: here, iid: on.named }] : []), ...found]),
    };
    return Object.assign(carryOut, { holds });
  }

  private async findCanonicalIssue(
    viewer: SignedInViewer,
    ownProject: ProjectParent,
    argument: string,
  ): Promise<CanonicalIssue> {
    const [named] = parseArgument.references(argument);
    if (!named) return { why: 'it names no issue' };
    const project = named.project === null ? ownProject : await this.directory.findProject(named.project, viewer);
    return project ? { project, iid: named.iid } : NOT_FOUND;
  }
}

const NOT_FOUND = { why: 'it was not found' };
