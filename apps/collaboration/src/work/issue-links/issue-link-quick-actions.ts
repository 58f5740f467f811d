import { Injectable } from '@nestjs/common';
import { Forbidden } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { issueKind } from '../issues/issue.kind';
import { findVisibleIssueIds } from '../issues/visible-issues';
import { executeCommandsInSavepoints, describeQuickActionRefusal } from '../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../talk/mentions/quick-actions/arguments';
import type { IssueArgument } from '../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableWithParent } from '../../base/noteables/planning.policy';
import { issueLinkPolicy } from './issue-link.policy';
import type { IssueKey } from './issue-links.queries';
import { IssueLinksService } from './issue-links.service';

/** The issues that a command names, or the reason why the caller may not link them. */
type LinkTargets = readonly IssueKey[] | { readonly why: string };
type ProjectParent = Extract<NoteableWithParent['parent'], { readonly kind: 'project' }>;

/** Limit of issues that the commands of one text may link. */
const MOST_TARGETS = 20;
const TOO_MANY = `more than ${MOST_TARGETS} issues are named`;

/** Quick actions that link issues. Source: reference work-tracking 2.6, 9.1. */
@Injectable()
export class IssueLinkQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly links: IssueLinksService,
  ) {
    actions.declareSet({
      names: ['relate'],
      supportsKind: (kind) => kind === issueKind,
      plan: (asking, commands) => this.planLinkActions(asking, commands),
    });
  }

  private async planLinkActions(
    { viewer, parent }: ActionContext,
    commands: readonly Command[],
  ): Promise<ExecuteActions> {
    const here = parent as ProjectParent;
    const targets: LinkTargets[] = [];
    let count = 0;
    for (const { argument } of commands) {
      const named = parseArgument.references(argument);
      count += named.length;
      const isTooMany = count > MOST_TARGETS;
      targets.push(isTooMany ? { why: TOO_MANY } : await this.findIssuesToLink(viewer, here, named));
    }
    const found = targets.flatMap((one) => ('why' in one ? [] : one));
    const carryOut: ExecuteActions = (tx, on) =>
      executeCommandsInSavepoints(tx, commands, (_, index) =>
        this.linkIssueToTargets(tx, viewer, { project: here, iid: on.named }, targets[index]!),
      );
    const holds: ExecuteActions['holds'] = {
      things: (tx, on) =>
        findVisibleIssueIds(tx, viewer, [...(on ? [{ project: here, iid: on.named }] : []), ...found]),
    };
    return Object.assign(carryOut, { holds });
  }

  private async findIssuesToLink(
    viewer: SignedInViewer,
    ownProject: ProjectParent,
    named: readonly IssueArgument[],
  ): Promise<LinkTargets> {
    if (named.length === 0) return { why: 'it names no issue' };
    const targets: IssueKey[] = [];
    try {
      for (const { project: ref, iid } of named) {
        targets.push({ project: ref === null ? ownProject : await this.links.targetProject(viewer, ref), iid });
      }
    } catch (error) {
      return { why: describeQuickActionRefusal(error) };
    }
    return targets;
  }

  /** Links the issue with all targets, or throws and links none. */
  private async linkIssueToTargets(
    tx: Tx,
    viewer: SignedInViewer,
    issue: IssueKey,
    targets: LinkTargets,
  ): Promise<ActionResult> {
    if (!issueLinkPolicy.mayLink(viewer, issue.project)) throw new Forbidden();
    if ('why' in targets) return targets;
    for (const target of targets) await this.links.linkIssues(tx, viewer, issue, { target, linkType: 'relates_to' });
    const names = targets.map(({ project, iid }) =>
      project.id === issue.project.id ? `#${iid}` : `${project.fullPath}#${iid}`,
    );
    return { said: `Linked with ${names.join(', ')}.`, changes: { relate: names } };
  }
}
