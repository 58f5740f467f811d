import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { issueKind } from '../issues/issue.kind';
import { oneByOne, reasonOf } from '../../talk/mentions/quick-actions/action-set';
import type { Asking, CarriesOut, Outcome } from '../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../talk/mentions/quick-actions/commands-in';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import { IssueMovesService } from './issue-moves.service';
import type { Place } from './issue-moves.service';

/** Where a command leads, as far as the caller may know of it; else why not. */
type Destination = { readonly project: Place; readonly withNotes: boolean } | { readonly why: string };

/** A copy may be of thousands of notes. */
const ONE_COPY = 'one text moves or clones an issue once';

/**
 * Commands that take an issue elsewhere: last, so that the note with which they come is written where it was sent, and
 * goes along. Source: reference work-tracking 2.6, 9.1.
 */
@Injectable()
export class IssueMoveActions {
  constructor(
    actions: QuickActionsService,
    private readonly moves: IssueMovesService,
  ) {
    actions.declare({
      names: ['move', 'clone'],
      isLast: true,
      isForKept: true,
      fits: (kind) => kind === issueKind,
      plan: (asking, commands) => this.plan(asking, commands),
    });
  }

  private async plan({ viewer, parent }: Asking, commands: readonly Command[]): Promise<CarriesOut> {
    const here = parent as Place;
    const [first, ...more] = commands;
    const destinations = [
      await this.destination(viewer, here, first!),
      ...more.map((): Destination => ({ why: ONE_COPY })),
    ];
    const carryOut: CarriesOut = (tx, on) =>
      oneByOne(tx, commands, async ({ name }, index): Promise<Outcome> => {
        const to = destinations[index]!;
        if ('why' in to) return to;
        const wish = { from: here, iid: on.named, to: to.project };
        const { fullPath } = to.project;
        if (name === 'move') {
          const { iid } = await this.moves.moveIn(tx, viewer, wish);
          return { said: `Moved this issue to ${fullPath}#${iid}.`, changes: { target_project: fullPath } };
        }
        const { iid } = await this.moves.cloneIn(tx, viewer, wish, to.withNotes);
        const changes = { target_clone_project: fullPath, clone_with_notes: to.withNotes };
        return { said: `Cloned this issue to ${fullPath}#${iid}.`, changes };
      });
    const [to] = destinations;
    const holds: CarriesOut['holds'] = {
      places: async (tx, on) => {
        if (on && to && 'project' in to) {
          await this.moves.holdPlace(tx, viewer, { from: here, iid: on.named, to: to.project });
        }
      },
    };
    return Object.assign(carryOut, { holds });
  }

  private async destination(viewer: SignedInViewer, here: Place, { name, argument }: Command): Promise<Destination> {
    const named = argumentsOf.destination(argument);
    // A clone may stay here, and leaves the notes behind unless it is told.
    const isWhole = named !== null && (name === 'clone' || (named.path !== null && !named.withNotes));
    if (!isWhole) return { why: 'it names no project' };
    const { path, withNotes } = named;
    try {
      return { project: path === null ? here : await this.moves.destination(viewer, path), withNotes };
    } catch (error) {
      return { why: reasonOf(error) };
    }
  }
}
