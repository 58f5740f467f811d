import { Injectable } from '@nestjs/common';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { lockNoteables } from '../../../base/noteables/noteable-locks';
import { RefUpdateEffects } from '../../../code/repositories/ref-updates/ref-update-effects';
import type {
  PreparedEffect,
  RefUpdateEffect,
  SettledUpdates,
} from '../../../code/repositories/ref-updates/ref-update-effects';
import { announceAllThreadsResolved } from '../../../talk/notes/discussions/all-resolved';
import { markSuggestionsApplied, resolveThreads } from '../../../talk/notes/positions/followed-rows';
import { deleteSuggestionIntents, findIntendedSuggestions } from '../../../talk/notes/positions/suggestion-intents';
import type { IntendedSuggestion } from '../../../talk/notes/positions/suggestion-intents';
import { mergeRequestKind } from '../merge-request.kind';

/** Marks suggestions as applied when their commit is on its branch, and resolves their threads. */
@Injectable()
export class AppliedSuggestionsEffect implements RefUpdateEffect {
  constructor(
    effects: RefUpdateEffects,
    private readonly database: Database,
  ) {
    effects.declare(this);
  }

  async prepare({ updates, userId }: SettledUpdates): Promise<PreparedEffect | null> {
    const intended = await findIntendedSuggestions(
      this.database,
      updates.map(({ newId }) => newId),
    );
    return intended.length === 0 ? null : { write: (tx) => this.storeAppliedSuggestions(tx, intended, userId) };
  }

  private async storeAppliedSuggestions(
    tx: Tx,
    intended: readonly IntendedSuggestion[],
    userId: number | null,
  ): Promise<void> {
    const requests = [...new Set(intended.map((one) => one.noteable_id))].sort((a, b) => a - b);
    await lockNoteables(tx, mergeRequestKind, requests);
    for (const commit of new Set(intended.map((one) => one.commit_id))) {
      const ids = intended.filter((one) => one.commit_id === commit).map((one) => one.suggestion_id);
      await markSuggestionsApplied(tx, ids, commit);
    }
    await deleteSuggestionIntents(
      tx,
      intended.map((one) => one.suggestion_id),
    );
    if (userId === null) return;
    for (const id of requests) await this.resolveThreadsAndAnnounce(tx, id, intended, userId);
  }

  /** Resolves the threads of the applied suggestions of one merge request. */
  private async resolveThreadsAndAnnounce(
    tx: Tx,
    id: number,
    intended: readonly IntendedSuggestion[],
    userId: number,
  ): Promise<void> {
    const own = intended.filter((one) => one.noteable_id === id);
    const threads = [...new Set(own.map((one) => one.thread_id))];
    const on = { noteable: id, type: mergeRequestKind.type };
    const resolved = await resolveThreads(tx, on, threads, userId);
    await announceAllThreadsResolved(tx, { kind: mergeRequestKind, id, resolved }, { userId });
  }
}
