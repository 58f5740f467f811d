import { Inject, Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, NotModified } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { aboveOf, perNaming } from '../../base/noteables/reader';
import type { NamedNoteable } from '../../base/noteables/reader';
import { subscribedSql } from '../../base/noteables/subscribed-sql';
import { readerValues } from '../../talk/notes/notes.queries';
import { IS_ADMIN, READER, READS_INTERNAL } from '../../talk/notes/note-statement';
import type { ReaderParams } from '../../talk/notes/note-statement';
import { namedVisibleSql, statementsName } from '../../talk/notes/notes.statements';

/** Following things and leaving them; answers are the thing as JSON text. Source: reference work-tracking 9.7. */
@Injectable()
export class SubscriptionsService {
  private readonly statementsOf: (on: Pick<NamedNoteable, 'kind' | 'by'>) => ReturnType<typeof followStatements>;

  constructor(
    private readonly work: Work,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.statementsOf = perNaming((kind, by) => followStatements(kind, by, externalUrl));
  }

  /** Errors: NotModified when it is so already. */
  follow(viewer: SignedInViewer, on: NamedNoteable, isWanted: boolean): Promise<string> {
    return this.work.run((tx) => this.followIn(tx, viewer, on, isWanted));
  }

  /** The same inside a transaction of others. */
  async followIn(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, isWanted: boolean): Promise<string> {
    const { lock, write, shown } = this.statementsOf(on);
    const reader = readerValues(viewer, on);
    const locked = await tx.run(lock, reader);
    if (locked.length === 0) throw new NotFound(on.kind.resource);
    const written = await tx.run(write, { ...reader, is_wanted: isWanted });
    if (written.length === 0) throw new NotModified();
    const place = { full_path: on.parent.fullPath, above: aboveOf(on.parent), is_external: viewer.isExternal };
    const [row] = await tx.run(shown, { ...reader, ...place });
    return row!.json;
  }
}

interface FollowParams extends ReaderParams {
  readonly is_wanted: boolean;
}

/** Shape: `full_path` of the parent, ids of the groups above it from the root down. */
interface ShownParams extends ReaderParams {
  readonly full_path: string;
  readonly above: readonly number[];
  readonly is_external: boolean;
}

/** The statements of one kind. */
function followStatements(kind: NoteableKind, by: 'id' | 'iid', externalUrl: string) {
  const visible = namedVisibleSql(kind, by);
  const { viewer } = READER;
  const parent = {
    fullPath: ':full_path::text',
    above: ':above::bigint[]',
    person: { user: viewer, isAdmin: IS_ADMIN, isExternal: ':is_external::boolean' },
  };
  const shown = kind.detailed.over({ externalUrl, ...parent, readsInternal: READS_INTERNAL, viewer });
  const projectId = kind.parent === 'project' ? ':parent::bigint' : 'null::bigint';
  const name = statementsName(kind, by, 'follow');
  return {
    // Wishes of one moment take turns.
    lock: statement<ReaderParams, never>(
      `${name}_lock`,
      () => `select 1 from ${kind.table} i where ${visible} for no key update of i`,
    ),
    write: statement<FollowParams, never>(
      `${name}_write`,
      () => `insert into subscriptions (noteable_type, noteable_id, user_id, project_id, subscribed)
      select '${kind.type}', i.id, ${viewer}, ${projectId}, :is_wanted::boolean from ${kind.table} i
      where ${visible} and ${subscribedSql(kind, viewer)} <> :is_wanted::boolean
      on conflict (noteable_id, noteable_type, user_id) do update set subscribed = excluded.subscribed
      returning 1`,
    ),
    shown: statement<ShownParams, { json: string }>(
      `${name}_shown`,
      () => `select ${shown.sql} as json from ${kind.table} i where ${visible}`,
    ),
  };
}
