import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { executeCommandsInSavepoints } from '../mentions/quick-actions/action-set';
import type { ActionResult } from '../mentions/quick-actions/action-set';
import { parseArgument } from '../mentions/quick-actions/arguments';
import { QuickActionsService } from '../mentions/quick-actions/quick-actions.service';
import type { NoteableReference } from '../../base/noteables/reader';
import { AwardEmojiService } from './award-emoji.service';
import { canonicalEmojiName } from './emoji-names';

/** Quick actions that award emoji to noteables. Source: reference work-tracking 2.6, 9.6. */
@Injectable()
export class AwardQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly awards: AwardEmojiService,
  ) {
    actions.declareSet({
      names: ['award', 'react'],
      supportsKind: ({ abilities }) => abilities.includes('awards'),
      plan:
        ({ viewer }, commands) =>
        (tx, on) =>
          executeCommandsInSavepoints(tx, commands, ({ argument }) => this.addAward(tx, viewer, on, argument)),
    });
  }

  private async addAward(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    argument: string,
  ): Promise<ActionResult> {
    const alias = parseArgument.emoji(argument);
    const name = alias === null ? undefined : canonicalEmojiName(alias);
    if (name === undefined) return { why: 'no emoji has that name' };
    try {
      await this.awards.createInTransaction(tx, viewer, { on, noteId: null }, name);
    } catch (error) {
      if (error instanceof NotFound) return { why: 'you have given it already, or may not give any' };
      throw error;
    }
    return { said: `Gave :${name}:.`, changes: { emoji_award: name } };
  }
}
