import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Conflict, NotFound, NotModified } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { issueKind } from '../../issues/issue.kind';
import { EpicAssignments } from '../../issues/epic/epic-assignment';
import type { EpicAssignment, EpicAssigner } from '../../issues/epic/epic-assignment';
import { visibleEpicsJoinSql } from '../../issues/epic/issue-epic.shape';
import { executeCommandsInSavepoints } from '../../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { epicKind } from '../epic.kind';
import { ASSIGNED, EpicIssuesService } from './epic-issues.service';
import type { LockedEpic } from './epic-issues.service';

const { joins, where } = visibleEpicsJoinSql({ user: '$1::bigint', isAdmin: '$2::boolean', isExternal: '$3::boolean' });
const prepareVisibleEpicLockStatement = (name: string, condition: string) =>
  prepareStatement(
    `epic_issues_hold_${name}`,
    `select goal.id, goal.iid, goal.group_id, goal.confidential, its.full_path, its.reads_confidential as may_write,
       now() as at
     from epics goal ${joins} where ${condition} and ${where} for no key update of goal`,
  );
/** $1-$3 the viewer, $4 epic. */
const lockById = prepareVisibleEpicLockStatement('by_id', 'goal.id = $4::bigint');
/** $1 path of the group, or null for the group of the issue's project $2; $3 number. */
const epicNamed = prepareStatement(
  'epic_issues_epic_named',
  `select goal.id from epics goal where goal.iid = $3::bigint and goal.group_id = coalesce(
    (select named.id from directory_namespaces named where lower(named.full_path) = lower($1::text)),
    (select p.namespace_id from directory_projects p where p.id = $2::bigint and $1::text is null))`,
);
/** $1-$3 the viewer, $4 project, $5 number of the issue. */
const lockOfIssue = prepareVisibleEpicLockStatement(
  'of_issue',
  `goal.id = (select serves.epic_id from epic_issues serves join issues i on i.id = serves.issue_id
    where i.project_id = $4::bigint and i.iid = $5::bigint)`,
);
/** $1 project, $2 number. */
const issueNamed = prepareStatement(
  'epic_issues_named',
  'select i.id from issues i where i.project_id = $1::bigint and i.iid = $2::bigint',
);

/**
 * Ways to set the epic of an issue next to the routes of epics: the parameters `epic_id` and `epic_iid`, and quick actions. Source:
 * reference work-tracking 2.6, 5.6, 9.1.
 */
@Injectable()
export class EpicIssueQuickActions implements EpicAssigner {
  constructor(
    assignments: EpicAssignments,
    actions: QuickActionsService,
    private readonly directory: Directory,
    private readonly issues: EpicIssuesService,
    private readonly database: Database,
  ) {
    assignments.declare(this);
    actions.declareSet({
      names: ['epic', 'remove_epic'],
      isFirst: 'above',
      supportsKind: (kind) => kind === issueKind,
      plan: (asking, commands) => this.planEpicAssignments(asking, commands),
    });
  }

  async find(projectId: number, iid: number): Promise<number> {
    const [epic] = await this.database.prepared<{ id: number }>(epicNamed, [null, projectId, iid]);
    if (!epic) throw new NotFound(epicKind.resource);
    return epic.id;
  }

  /** Prepares setting or removing the epic of an issue. An epic that is set already stays, as does none. */
  async prepare(
    viewer: SignedInViewer,
    { project, iid }: Parameters<EpicAssigner['prepare']>[1],
    epicId: number | null,
  ): Promise<EpicAssignment> {
    await this.directory.requireFresh(viewer);
    return async (tx) => {
      const issue = iid === null ? null : await findIssueId(tx, project.id, iid);
      await this.issues.startChange(tx, viewer, { issueId: issue, epicIds: epicId === null ? [] : [epicId] });
      const epic =
        epicId === null
          ? await lockVisibleEpic(tx, viewer, lockOfIssue, [project.id, iid])
          : await lockVisibleEpic(tx, viewer, lockById, [epicId]);
      if (!epic && epicId !== null) throw new NotFound(epicKind.resource);
      return async (issueId, becomesConfidential) => {
        if (epic && epicId === null) await this.issues.remove(tx, viewer, epic, issueId);
        else if (epic) await this.issues.addIssue(tx, viewer, epic, issueId, becomesConfidential);
      };
    };
  }

  /**
   * Locks the epics of all commands of a text at once. `named` holds an id per command, undefined for an unknown epic.
   */
  private async planEpicAssignments(
    { viewer, parent, epicId }: ActionContext,
    commands: readonly Command[],
  ): Promise<ExecuteActions> {
    await this.directory.requireFresh(viewer);
    let named: (number | undefined)[] = [];
    const issueOfText = async (tx: Tx, on: NoteableWithParent | null) =>
      on ? await findIssueId(tx, parent.id, on.named) : null;
    const holds: ExecuteActions['holds'] = {
      things: async (tx, on) => [(await issueOfText(tx, on)) ?? []].flat(),
      above: async (tx, on) => {
        named = [];
        for (const { argument } of commands) named.push(await findEpicIdByCommandArgument(tx, parent.id, argument));
        const epicIds = [...named, epicId ?? undefined].filter((id) => id !== undefined);
        await this.issues.lockEpics(tx, viewer, { issueId: await issueOfText(tx, on), epicIds });
      },
    };
    const carryOut: ExecuteActions = (tx, on) =>
      executeCommandsInSavepoints(tx, commands, (command, index) =>
        this.executeEpicAssignment(tx, viewer, on, { command, wanted: named[index] }),
      );
    return Object.assign(carryOut, { holds });
  }

  private async executeEpicAssignment(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableWithParent,
    { command, wanted }: { readonly command: Command; readonly wanted: number | undefined },
  ): Promise<ActionResult> {
    const issueId = await findIssueId(tx, on.parent.id, on.named);
    if (issueId === null) throw new NotFound(issueKind.resource);
    if (command.name === 'remove_epic') {
      const epic = await lockVisibleEpic(tx, viewer, lockOfIssue, [on.parent.id, on.named]);
      if (!epic || !(await this.issues.remove(tx, viewer, epic, issueId))) throw new NotModified();
      return { said: 'Removed the epic.', changes: { epic: null } };
    }
    const named = parseArgument.epic(command.argument);
    if (!named) return { why: 'it names no epic' };
    const epic = wanted === undefined ? undefined : await lockVisibleEpic(tx, viewer, lockById, [wanted]);
    if (!epic) throw new NotFound(epicKind.resource);
    if ((await this.issues.addIssue(tx, viewer, epic, issueId)) === null) throw new Conflict(ASSIGNED);
    return { said: `Added to the epic ${named.group ?? ''}&${epic.iid}.`, changes: { epic: epic.id } };
  }
}

async function findIssueId(tx: Tx, projectId: number, iid: number): Promise<number | null> {
  const [issue] = await tx.prepared<{ id: number }>(issueNamed, [projectId, iid]);
  return issue?.id ?? null;
}

/** Finds the epic that a command names. Returns undefined if there is none. */
async function findEpicIdByCommandArgument(tx: Tx, projectId: number, argument: string): Promise<number | undefined> {
  const named = parseArgument.epic(argument);
  if (!named) return undefined;
  return (await tx.prepared<{ id: number }>(epicNamed, [named.group, projectId, named.iid]))[0]?.id;
}

/** Locks the epic until the transaction ends. Returns undefined if the viewer may not see it. */
async function lockVisibleEpic(
  tx: Tx,
  viewer: SignedInViewer,
  statement: ReturnType<typeof prepareVisibleEpicLockStatement>,
  values: readonly unknown[],
): Promise<LockedEpic | undefined> {
  const [epic] = await tx.prepared<LockedEpic>(statement, [
    viewer.userId,
    viewer.isAdmin,
    viewer.isExternal,
    ...values,
  ]);
  return epic;
}
