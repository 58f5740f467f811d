import { Inject, Injectable } from '@nestjs/common';
import { Database, statement } from '@rookery/persistence';
import { ContextSigningKeys } from '@rookery/platform';
import { NoteableKinds, cachePerNoteableKind, projectIdSql } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { verifyUnsubscribeLinkKey, deriveUnsubscribeLinkKeys } from './unsubscribe-key';

/** A noteable that a link leads to. */
export type LinkedKind = Pick<NoteableKind, 'word'>;

interface UnsubscribeParams {
  readonly noteable: number;
  readonly user: number;
}

const findLinkedNoteable = cachePerNoteableKind((kind) =>
  statement<UnsubscribeParams, never>(
    `${kind.table}_unsubscribe_find`,
    `select 1 from ${kind.table} i join directory_users u on u.id = :user::bigint where i.id = :noteable::bigint`,
  ),
);
const insertUnsubscription = cachePerNoteableKind((kind) =>
  statement<UnsubscribeParams, never>(
    `${kind.table}_unsubscribe`,
    `insert into subscriptions (noteable_type, noteable_id, user_id, project_id, subscribed)
     select '${kind.type}', i.id, u.id, ${projectIdSql(kind)}, false
     from ${kind.table} i join directory_users u on u.id = :user::bigint where i.id = :noteable::bigint
     on conflict (noteable_id, noteable_type, user_id) do update set subscribed = false
     returning 1`,
  ),
);

/**
 * Unsubscribing by the link of an e-mail. The key alone decides whose subscription ends; it grants nothing else.
 * Source: reference work-tracking 8.5.
 */
@Injectable()
export class UnsubscribeService {
  private readonly keys: ReturnType<typeof deriveUnsubscribeLinkKeys>;

  constructor(
    private readonly database: Database,
    private readonly kinds: NoteableKinds,
    @Inject(ContextSigningKeys) keys: ContextSigningKeys,
  ) {
    this.keys = deriveUnsubscribeLinkKeys(keys);
  }

  /** Finds the noteable of a link without changing anything. Returns null for an invalid link or a deleted noteable. */
  show(key: string): Promise<LinkedKind | null> {
    return this.runStatementForKey(key, findLinkedNoteable);
  }

  /** Unsubscribes the user of the link. Repeating it changes nothing. Returns the same as `show`. */
  unsubscribe(key: string): Promise<LinkedKind | null> {
    return this.runStatementForKey(key, insertUnsubscription);
  }

  private async runStatementForKey(key: string, statementOf: typeof findLinkedNoteable): Promise<LinkedKind | null> {
    const subject = verifyUnsubscribeLinkKey(key, this.keys);
    const kind = subject && this.kinds.kindOfType(subject.noteableType);
    if (!subject || !kind) return null;
    const rows = await this.database.run(statementOf(kind), { noteable: subject.noteableId, user: subject.userId });
    return rows.length > 0 ? kind : null;
  }
}
