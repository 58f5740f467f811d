import { Inject, Injectable } from '@nestjs/common';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { jsonArraySql } from '../../base/noteables/json.shape';
import { parentAccessSql, canReadNoteableRowSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { personShape } from '../../base/noteables/person.shape';
import type { NoteableReference } from '../../base/noteables/reader';
import { toNoteReaderParams } from '../../talk/notes/notes.queries';
import { IS_ADMIN, READER, READS_INTERNAL } from '../../talk/notes/note-statement';
import type { ReaderParams } from '../../talk/notes/note-statement';
import { isNamedNoteableVisibleSql, noteableStatementName } from '../../talk/notes/notes.statements';

/**
 * A user in the list, with the access that the reader may know of. Only administrators, and users themselves, may see from
 * the list that a user is an administrator. So for other readers only the membership of an administrator counts, even if the
 * administrator wrote a note or was assigned there.
 */
const person = {
  user: 'u.id',
  isAdmin: `(u.admin and (${IS_ADMIN} or u.id = ${READER.viewer}))`,
  isExternal: 'u.external',
};

/**
 * Lists the participants of a visible noteable who may read it themselves. Users who participate by internal notes only are
 * shown to readers of internal notes. Source: reference work-tracking 9.1.
 */
@Injectable()
export class ParticipantsQueries {
  private readonly kept = new CachedStatements();
  private readonly person;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.person = personShape.toSql({ user: 'u', externalUrl });
  }

  async list(viewer: Viewer, on: NoteableReference, page: PageRequest): Promise<JsonPage> {
    const [row] = await this.database.run(this.listStatement(on, page, toNoteReaderParams(viewer, on)));
    if (!row) throw new NotFound(on.kind.resource);
    return jsonPageOf(page, row);
  }

  listStatement(
    { kind, by }: Pick<NoteableReference, 'kind' | 'by'>,
    page: PageRequest,
    values: ReaderParams,
  ): Statement<JsonPageRow> {
    const name = isUsualPage(page) ? `${noteableStatementName(kind, by, 'participants')}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, () =>
      new ListQuery<never>({ name: 'participants', from: 'directory_users u', carries: 'u.*', values })
        .fromSource({ from: `directory_users u join lateral ${parentAccessSql(kind, person)} a on true` })
        .where(`u.id = any(array(${participantIdsSql(kind)})) and ${canReadNoteableRowSql(kind, 'a', 'u.id')}`)
        .orderBy([['u.id', 'asc']])
        .jsonSql(page, {
          rows: (from, order) => jsonArraySql(this.person, from, order),
          from: `from ${kind.table} i where ${isNamedNoteableVisibleSql(kind, by)}`,
        }),
    );
  }
}

/**
 * A subquery of the ids of participants of the row `i`. Users who participate by an internal note only are visible to
 * readers of internal notes. The reader's own note counts at once, even before its event updates the table of participants.
 */
function participantIdsSql({ type, assignees, reviewers }: NoteableKind): string {
  // `offset 0` makes the planner start from the notes of the noteable, which are few; a user may have a million notes.
  const wrote = (user: string): string => `${user} in (select n.author_id from notes n where n.noteable_id = i.id
      and n.noteable_type = '${type}' and not n.system and (not n.internal or ${READS_INTERNAL}) offset 0)`;
  return `select i.author_id
    ${assignees ? `union select * from ${assignees.ofSql('i.id')} s` : ''}${reviewers ? ` union select * from ${reviewers.ofSql('i.id')} s` : ''}
    union select p.user_id from participants p left join notes by on by.id = p.note_id
      where p.noteable_id = i.id and p.noteable_type = '${type}'
        and (${READS_INTERNAL} or p.note_id is null or not by.internal or ${wrote('p.user_id')})
    union select ${READER.viewer} where ${wrote(READER.viewer)}`;
}
