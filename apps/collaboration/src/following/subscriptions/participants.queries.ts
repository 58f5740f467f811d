import { Inject, Injectable } from '@nestjs/common';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, isUsualPage, KeptStatements, ListQuery } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { arraySql } from '../../base/noteables/json.shape';
import { accessSql, readableSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { personShape } from '../../base/noteables/person.shape';
import type { NamedNoteable } from '../../base/noteables/reader';
import { readerValues } from '../../talk/notes/notes.queries';
import { IS_ADMIN, READER, READS_INTERNAL } from '../../talk/notes/note-statement';
import type { ReaderParams } from '../../talk/notes/note-statement';
import { namedVisibleSql, statementsName } from '../../talk/notes/notes.statements';

/**
 * As far as the reader may know: that somebody is an administrator is told to administrators and to themselves, by nothing
 * that they wrote or were given there when everybody might read it either.
 */
const person = {
  user: 'u.id',
  isAdmin: `(u.admin and (${IS_ADMIN} or u.id = ${READER.viewer}))`,
  isExternal: 'u.external',
};

/** Who takes part in a thing, as far as the reader may know. Source: reference work-tracking 9.1. */
@Injectable()
export class ParticipantsQueries {
  private readonly kept = new KeptStatements();
  private readonly person;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.person = personShape.over({ user: 'u', externalUrl });
  }

  async page(viewer: Viewer, on: NamedNoteable, page: PageRequest): Promise<JsonPage> {
    const [row] = await this.database.run(this.statement(on, page, readerValues(viewer, on)));
    if (!row) throw new NotFound(on.kind.resource);
    return jsonPageOf(page, row);
  }

  statement(
    { kind, by }: Pick<NamedNoteable, 'kind' | 'by'>,
    page: PageRequest,
    values: ReaderParams,
  ): Statement<JsonPageRow> {
    const name = isUsualPage(page) ? `${statementsName(kind, by, 'participants')}_${page.perPage}` : null;
    return this.kept.statement(name, values, () =>
      new ListQuery<never>({ name: 'participants', from: 'directory_users u', carries: 'u.*', values })
        .among({ from: `directory_users u join lateral ${accessSql(kind, person)} a on true` })
        .where(`u.id = any(array(${takingPartSql(kind)})) and ${readableSql(kind, 'a', 'u.id')}`)
        .orderBy([['u.id', 'asc']])
        .json(page, {
          rows: (from, order) => arraySql(this.person, from, order),
          from: `from ${kind.table} i where ${namedVisibleSql(kind, by)}`,
        }),
    );
  }
}

/**
 * Ids of those who take part in the row `i`. Somebody who does by an internal note alone is shown to its readers only. The
 * reader's own note counts at once, also while the table of participants does not know of it yet.
 */
function takingPartSql({ type, assignees }: NoteableKind): string {
  // Fenced: the notes of the thing are few, those of a person may be a million.
  const wrote = (user: string): string => `${user} in (select n.author_id from notes n where n.noteable_id = i.id
      and n.noteable_type = '${type}' and not n.system and (not n.internal or ${READS_INTERNAL}) offset 0)`;
  return `select i.author_id
    ${assignees ? `union select * from ${assignees.ofSql('i.id')} s` : ''}
    union select p.user_id from participants p left join notes by on by.id = p.note_id
      where p.noteable_id = i.id and p.noteable_type = '${type}'
        and (${READS_INTERNAL} or p.note_id is null or not by.internal or ${wrote('p.user_id')})
    union select ${READER.viewer} where ${wrote(READER.viewer)}`;
}
