import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { executeCommandsInSavepoints } from '../../talk/mentions/quick-actions/action-set';
import type { ActionResult } from '../../talk/mentions/quick-actions/action-set';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableReference } from '../../base/noteables/reader';
import { TodoMarkingService } from './marking.service';

/** Quick actions on the caller's own to-dos. Source: reference work-tracking 2.6, 6.1, 6.4. */
@Injectable()
export class TodoQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly marking: TodoMarkingService,
  ) {
    actions.declareSet({
      names: ['todo', 'done'],
      supportsKind: ({ abilities }) => abilities.includes('marking'),
      plan:
        ({ viewer }, commands) =>
        (tx, on) =>
          executeCommandsInSavepoints(tx, commands, ({ name }) => this.executeTodoCommand(tx, viewer, on, name)),
    });
  }

  private async executeTodoCommand(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    name: string,
  ): Promise<ActionResult> {
    if (name === 'todo') {
      await this.marking.markInTransaction(tx, viewer, on);
      return { said: 'Added a to-do item.', changes: { todo_event: 'mark' } };
    }
    await this.marking.settleInTransaction(tx, viewer, on);
    return { said: 'Marked your to-do items as done.', changes: { todo_event: 'done' } };
  }
}
