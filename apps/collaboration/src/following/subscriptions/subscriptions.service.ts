import { Inject, Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, NotModified } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { ancestorIdsOf, cachePerNoteableKindAndColumn } from '../../base/noteables/reader';
import type { NoteableReference } from '../../base/noteables/reader';
import { subscribedSql } from '../../base/noteables/subscribed-sql';
import { toNoteReaderParams } from '../../talk/notes/notes.queries';
import { IS_ADMIN, READER, READS_INTERNAL } from '../../talk/notes/note-statement';
import type { ReaderParams } from '../../talk/notes/note-statement';
import { isNamedNoteableVisibleSql, noteableStatementName } from '../../talk/notes/notes.statements';

/** Subscribes users to noteables and unsubscribes them; returns the noteable as JSON text. Source: reference work-tracking 9.7. */
@Injectable()
export class SubscriptionsService {
  private readonly statementsOf: (
    on: Pick<NoteableReference, 'kind' | 'by'>,
  ) => ReturnType<typeof subscriptionStatements>;

  constructor(
    private readonly work: Work,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.statementsOf = cachePerNoteableKindAndColumn((kind, by) => subscriptionStatements(kind, by, externalUrl));
  }

  /** Subscribes or unsubscribes the viewer. Errors: NotModified if nothing changes. */
  setSubscription(viewer: SignedInViewer, on: NoteableReference, isSubscribed: boolean): Promise<string> {
    return this.work.run((tx) => this.setInTransaction(tx, viewer, on, isSubscribed));
  }

  /** Does the same inside a given transaction. */
  async setInTransaction(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    isSubscribed: boolean,
  ): Promise<string> {
    const { lock, write, shown } = this.statementsOf(on);
    const reader = toNoteReaderParams(viewer, on);
    const locked = await tx.run(lock, reader);
    if (locked.length === 0) throw new NotFound(on.kind.resource);
    const written = await tx.run(write, { ...reader, is_wanted: isSubscribed });
    if (written.length === 0) throw new NotModified();
    const place = { full_path: on.parent.fullPath, above: ancestorIdsOf(on.parent), is_external: viewer.isExternal };
    const [row] = await tx.run(shown, { ...reader, ...place });
    return row!.json;
  }
}

interface SubscriptionParams extends ReaderParams {
  readonly is_wanted: boolean;
}

/**
 * Parameters of the statement that shows a noteable. `full_path` is the path of the parent project or group. `above`
 * are the ids of the groups above that parent, from the root down. `is_external` is that of the viewer.
 */
interface ShowSubscriptionParams extends ReaderParams {
  readonly full_path: string;
  readonly above: readonly number[];
  readonly is_external: boolean;
}

/** Statements of one kind. */
function subscriptionStatements(kind: NoteableKind, by: 'id' | 'iid', externalUrl: string) {
  const visible = isNamedNoteableVisibleSql(kind, by);
  const { viewer } = READER;
  const parent = {
    fullPath: ':full_path::text',
    above: ':above::bigint[]',
    person: { user: viewer, isAdmin: IS_ADMIN, isExternal: ':is_external::boolean' },
  };
  const shown = kind.detailed.toSql({ externalUrl, ...parent, readsInternal: READS_INTERNAL, viewer });
  const projectId = kind.parent === 'project' ? ':parent::bigint' : 'null::bigint';
  const name = noteableStatementName(kind, by, 'follow');
  return {
    // Serializes concurrent requests about one noteable.
    lock: statement<ReaderParams, never>(
      `${name}_lock`,
      () => `select 1 from ${kind.table} i where ${visible} for no key update of i`,
    ),
    write: statement<SubscriptionParams, never>(
      `${name}_write`,
      () => `insert into subscriptions (noteable_type, noteable_id, user_id, project_id, subscribed)
      select '${kind.type}', i.id, ${viewer}, ${projectId}, :is_wanted::boolean from ${kind.table} i
      where ${visible} and ${subscribedSql(kind, viewer)} <> :is_wanted::boolean
      on conflict (noteable_id, noteable_type, user_id) do update set subscribed = excluded.subscribed
      returning 1`,
    ),
    shown: statement<ShowSubscriptionParams, { json: string }>(
      `${name}_shown`,
      () => `select ${shown.sql} as json from ${kind.table} i where ${visible}`,
    ),
  };
}
