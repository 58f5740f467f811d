import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { issueKind } from '../issues/issue.kind';
import { executeCommandsInSavepoints, describeQuickActionRefusal } from '../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import { IssueMovesService } from './issue-moves.service';
import type { MoveProject } from './issue-moves.service';

/** The target project of a command, or the reason why the caller may not use it. */
type MoveDestination = { readonly project: MoveProject; readonly withNotes: boolean } | { readonly why: string };

/** Copies are limited because one may include thousands of notes. */
const ONE_COPY = 'one text moves or clones an issue once';

/**
 * Quick actions that move or clone an issue. They run last, so that the note with the command is written first and
 * moves with the issue. Source: reference work-tracking 2.6, 9.1.
 */
@Injectable()
export class IssueMoveQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly moves: IssueMovesService,
  ) {
    actions.declareSet({
      names: ['move', 'clone'],
      isLast: true,
      isForExistingOnly: true,
      supportsKind: (kind) => kind === issueKind,
      plan: (asking, commands) => this.planMoveActions(asking, commands),
    });
  }

  private async planMoveActions(
    { viewer, parent }: ActionContext,
    commands: readonly Command[],
  ): Promise<ExecuteActions> {
    const here = parent as MoveProject;
    const [first, ...more] = commands;
    const destinations = [
      await this.findDestination(viewer, here, first!),
      ...more.map((): MoveDestination => ({ why: ONE_COPY })),
    ];
    const carryOut: ExecuteActions = (tx, on) =>
      executeCommandsInSavepoints(tx, commands, async ({ name }, index): Promise<ActionResult> => {
        const to = destinations[index]!;
        if ('why' in to) return to;
        const move = { from: here, iid: on.named, to: to.project };
        const { fullPath } = to.project;
        if (name === 'move') {
          const { iid } = await this.moves.moveInTransaction(tx, viewer, move);
          return { said: `Moved this issue to ${fullPath}#${iid}.`, changes: { target_project: fullPath } };
        }
        const { iid } = await this.moves.cloneInTransaction(tx, viewer, move, to.withNotes);
        const changes = { target_clone_project: fullPath, clone_with_notes: to.withNotes };
        return { said: `Cloned this issue to ${fullPath}#${iid}.`, changes };
      });
    const [to] = destinations;
    const holds: ExecuteActions['holds'] = {
      places: async (tx, on) => {
        if (on && to && 'project' in to) {
          await this.moves.lockTarget(tx, viewer, { from: here, iid: on.named, to: to.project });
        }
      },
    };
    return Object.assign(carryOut, { holds });
  }

  private async findDestination(
    viewer: SignedInViewer,
    ownProject: MoveProject,
    { name, argument }: Command,
  ): Promise<MoveDestination> {
    const named = parseArgument.destination(argument);
    // A clone may stay in this project, and has no notes unless the command asks for them.
    const isComplete = named !== null && (name === 'clone' || (named.path !== null && !named.withNotes));
    if (!isComplete) return { why: 'it names no project' };
    const { path, withNotes } = named;
    try {
      return { project: path === null ? ownProject : await this.moves.findDestination(viewer, path), withNotes };
    } catch (error) {
      return { why: describeQuickActionRefusal(error) };
    }
  }
}
