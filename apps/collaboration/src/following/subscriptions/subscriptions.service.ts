import { Inject, Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, NotModified } from '@rookery/kernel';
import { KeptStatements, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { aboveOf, perNaming } from '../../base/noteables/reader';
import type { NamedNoteable } from '../../base/noteables/reader';
import { subscribedSql } from '../../base/noteables/subscribed-sql';
import { readerValues } from '../../talk/notes/notes.queries';
import { IS_ADMIN, namedVisibleSql, READER, READS_INTERNAL, statementsName } from '../../talk/notes/notes.statements';

/** Following things and leaving them; answers are the thing as JSON text. Source: reference work-tracking 9.7. */
@Injectable()
export class SubscriptionsService {
  private readonly kept = new KeptStatements();
  private readonly textsOf: (on: Pick<NamedNoteable, 'kind' | 'by'>) => ReturnType<typeof texts>;

  constructor(
    private readonly work: Work,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.textsOf = perNaming((kind, by) => texts(kind, by, externalUrl));
  }

  /** Errors: NotModified when it is so already. */
  follow(viewer: SignedInViewer, on: NamedNoteable, isWanted: boolean): Promise<string> {
    return this.work.run((tx) => this.followIn(tx, viewer, on, isWanted));
  }

  /** The same inside a transaction of others. */
  async followIn(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, isWanted: boolean): Promise<string> {
    const { name, lock, write, shown } = this.textsOf(on);
    const place = [on.parent.fullPath, aboveOf(on.parent), viewer.isExternal];
    const values = [...readerValues(viewer, on), isWanted, ...place];
    const statement = (what: string, text: string) =>
      this.kept.statement(`${name}_${what}`, values, () => ({ text, values }));
    const locked = await tx.run(statement('lock', lock));
    if (locked.length === 0) throw new NotFound(on.kind.resource);
    const written = await tx.run(statement('write', write));
    if (written.length === 0) throw new NotModified();
    const [row] = await tx.run<{ json: string }>(statement('shown', shown));
    return row!.json;
  }
}

/** The statements of one kind. They take the values of those on notes; $8 is the wish, $9 and $10 are the path of the parent and what is above, $11 tells whether the reader is external. */
function texts(kind: NoteableKind, by: 'id' | 'iid', externalUrl: string) {
  const visible = namedVisibleSql(kind, by);
  const { viewer } = READER;
  const parent = {
    fullPath: '$9::text',
    above: '$10::bigint[]',
    person: { user: viewer, isAdmin: IS_ADMIN, isExternal: '$11::boolean' },
  };
  const shown = kind.detailed.over({ externalUrl, ...parent, readsInternal: READS_INTERNAL, viewer });
  const projectId = kind.parent === 'project' ? '$1::bigint' : 'null::bigint';
  return {
    name: statementsName(kind, by, 'follow'),
    // Wishes of one moment take turns.
    lock: `select 1 from ${kind.table} i where ${visible} for no key update of i`,
    write: `insert into subscriptions (noteable_type, noteable_id, user_id, project_id, subscribed)
      select '${kind.type}', i.id, ${viewer}, ${projectId}, $8::boolean from ${kind.table} i
      where ${visible} and ${subscribedSql(kind, viewer)} <> $8::boolean
      on conflict (noteable_id, noteable_type, user_id) do update set subscribed = excluded.subscribed
      returning 1`,
    shown: `select ${shown.sql} as json from ${kind.table} i where ${visible}`,
  };
}
