import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Conflict, NotFound, NotModified } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { issueKind } from '../../issues/issue.kind';
import { EpicChoice } from '../../issues/serving/epic-choice';
import type { Serving, ServesEpics } from '../../issues/serving/epic-choice';
import { knownEpicsSql } from '../../issues/serving/served-epic.shape';
import { oneByOne } from '../../../talk/mentions/quick-actions/action-set';
import type { Asking, CarriesOut, Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import { epicKind } from '../epic.kind';
import { ASSIGNED, EpicIssuesService } from './epic-issues.service';
import type { HeldEpic } from './epic-issues.service';

const { joins, where } = knownEpicsSql({ user: '$1::bigint', isAdmin: '$2::boolean', isExternal: '$3::boolean' });
const held = (name: string, of: string) =>
  prepared(
    `epic_issues_hold_${name}`,
    `select goal.id, goal.iid, goal.group_id, goal.confidential, its.full_path, its.reads_confidential as may_write,
       now() as at
     from epics goal ${joins} where ${of} and ${where} for no key update of goal`,
  );
/** $1-$3 who reads, then the epic. */
const holdById = held('by_id', 'goal.id = $4::bigint');
/** $1 path of the group, null for that of the issue's project ($2); $3 number. */
const epicNamed = prepared(
  'epic_issues_epic_named',
  `select goal.id from epics goal where goal.iid = $3::bigint and goal.group_id = coalesce(
    (select named.id from directory_namespaces named where lower(named.full_path) = lower($1::text)),
    (select p.namespace_id from directory_projects p where p.id = $2::bigint and $1::text is null))`,
);
/** $4 project, $5 number of the issue. */
const holdOfIssue = held(
  'of_issue',
  `goal.id = (select serves.epic_id from epic_issues serves join issues i on i.id = serves.issue_id
    where i.project_id = $4::bigint and i.iid = $5::bigint)`,
);
/** $1 project, $2 number. */
const issueNamed = prepared(
  'epic_issues_named',
  'select i.id from issues i where i.project_id = $1::bigint and i.iid = $2::bigint',
);

/**
 * How issues come to serve epics besides by the routes of epics: by `epic_id` and by commands. Source: reference work-tracking 2.6, 5.6, 9.1.
 */
@Injectable()
export class EpicIssueActions implements ServesEpics {
  constructor(
    choice: EpicChoice,
    actions: QuickActionsService,
    private readonly directory: Directory,
    private readonly issues: EpicIssuesService,
  ) {
    choice.declare(this);
    actions.declare({
      names: ['epic', 'remove_epic'],
      isFirst: 'above',
      fits: (kind) => kind === issueKind,
      plan: (asking, commands) => this.plan(asking, commands),
    });
  }

  /** In the epic already, or in none: it stays so. */
  async serving(
    viewer: SignedInViewer,
    { project, iid }: Parameters<ServesEpics['serving']>[1],
    epicId: number | null,
  ): Promise<Serving> {
    await this.directory.fresh(viewer);
    return async (tx) => {
      const issue = iid === null ? null : await issueOf(tx, project.id, iid);
      await this.issues.begin(tx, viewer, { issueId: issue, epicIds: epicId === null ? [] : [epicId] });
      const epic =
        epicId === null
          ? await hold(tx, viewer, holdOfIssue, [project.id, iid])
          : await hold(tx, viewer, holdById, [epicId]);
      if (!epic && epicId !== null) throw new NotFound(epicKind.resource);
      return async (issueId) => {
        if (epic && epicId === null) await this.issues.takeOut(tx, viewer, epic, issueId);
        else if (epic) await this.issues.put(tx, viewer, epic, issueId);
      };
    };
  }

  /** All epics of one text are held at once. Shape of `named`: ids by the place of the command, as far as there are any. */
  private async plan({ viewer, parent, epicId }: Asking, commands: readonly Command[]): Promise<CarriesOut> {
    await this.directory.fresh(viewer);
    let named: (number | undefined)[] = [];
    const own = async (tx: Tx, on: PlacedNoteable | null) => (on ? await issueOf(tx, parent.id, on.named) : null);
    const holds: CarriesOut['holds'] = {
      things: async (tx, on) => [(await own(tx, on)) ?? []].flat(),
      above: async (tx, on) => {
        named = [];
        for (const { argument } of commands) named.push(await epicOf(tx, parent.id, argument));
        const epicIds = [...named, epicId ?? undefined].filter((id) => id !== undefined);
        await this.issues.hold(tx, viewer, { issueId: await own(tx, on), epicIds });
      },
    };
    const carryOut: CarriesOut = (tx, on) =>
      oneByOne(tx, commands, (command, index) => this.carryOut(tx, viewer, on, { command, wanted: named[index] }));
    return Object.assign(carryOut, { holds });
  }

  private async carryOut(
    tx: Tx,
    viewer: SignedInViewer,
    on: PlacedNoteable,
    { command, wanted }: { readonly command: Command; readonly wanted: number | undefined },
  ): Promise<Outcome> {
    const issueId = await issueOf(tx, on.parent.id, on.named);
    if (issueId === null) throw new NotFound(issueKind.resource);
    if (command.name === 'remove_epic') {
      const epic = await hold(tx, viewer, holdOfIssue, [on.parent.id, on.named]);
      if (!epic || !(await this.issues.takeOut(tx, viewer, epic, issueId))) throw new NotModified();
      return { said: 'Removed the epic.', changes: { epic: null } };
    }
    const named = argumentsOf.epic(command.argument);
    if (!named) return { why: 'it names no epic' };
    const epic = wanted === undefined ? undefined : await hold(tx, viewer, holdById, [wanted]);
    if (!epic) throw new NotFound(epicKind.resource);
    if ((await this.issues.put(tx, viewer, epic, issueId)) === null) throw new Conflict(ASSIGNED);
    return { said: `Added to the epic ${named.group ?? ''}&${epic.iid}.`, changes: { epic: epic.id } };
  }
}

async function issueOf(tx: Tx, projectId: number, iid: number): Promise<number | null> {
  const [issue] = await tx.prepared<{ id: number }>(issueNamed, [projectId, iid]);
  return issue?.id ?? null;
}

/** Shape: undefined where the argument of a command names no epic that there is. */
async function epicOf(tx: Tx, projectId: number, argument: string): Promise<number | undefined> {
  const named = argumentsOf.epic(argument);
  if (!named) return undefined;
  return (await tx.prepared<{ id: number }>(epicNamed, [named.group, projectId, named.iid]))[0]?.id;
}

/** The epic, as far as the viewer knows of it, until the transaction ends. */
async function hold(
  tx: Tx,
  viewer: SignedInViewer,
  statement: ReturnType<typeof held>,
  values: readonly unknown[],
): Promise<HeldEpic | undefined> {
  const [epic] = await tx.prepared<HeldEpic>(statement, [viewer.userId, viewer.isAdmin, viewer.isExternal, ...values]);
  return epic;
}
