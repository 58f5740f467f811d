import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { executeEach } from '../../talk/mentions/quick-actions/action-set';
import type { Outcome } from '../../talk/mentions/quick-actions/action-set';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableReference } from '../../base/noteables/reader';
import { MarkingService } from './marking.service';

/** Quick actions on the caller's own to-dos. Source: reference work-tracking 2.6, 6.1, 6.4. */
@Injectable()
export class TodoQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly marking: MarkingService,
  ) {
    actions.declare({
      names: ['todo', 'done'],
      fits: ({ abilities }) => abilities.includes('marking'),
      plan:
        ({ viewer }, commands) =>
        (tx, on) =>
          executeEach(tx, commands, ({ name }) => this.carryOut(tx, viewer, on, name)),
    });
  }

  private async carryOut(tx: Tx, viewer: SignedInViewer, on: NoteableReference, name: string): Promise<Outcome> {
    if (name === 'todo') {
      await this.marking.markIn(tx, viewer, on);
      return { said: 'Added a to-do item.', changes: { todo_event: 'mark' } };
    }
    await this.marking.settleIn(tx, viewer, on);
    return { said: 'Marked your to-do items as done.', changes: { todo_event: 'done' } };
  }
}
