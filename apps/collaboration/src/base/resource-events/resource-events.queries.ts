import { Inject, Injectable } from '@nestjs/common';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { jsonArraySql } from '../noteables/json.shape';
import { parentIdColumnSql } from '../noteables/noteable-kinds';
import type { NoteableKind } from '../noteables/noteable-kinds';
import { ancestorIdsOf, requireNoteableReader } from '../noteables/reader';
import type { NoteableReference } from '../noteables/reader';
import type { ResourceEvents } from './resource-events.shape';

// The first values of every statement: `$1` parent, `$2` noteable, `$3` to `$5` reader, `$6` ancestors of the parent.
const READER = { viewer: '$3::bigint', isMember: '$4::boolean', readsConfidential: '$5::boolean' };
const ABOVE = '$6::bigint[]';

/** Reads resource events of every type, with one statement per request. Source: reference work-tracking 2.8. */
@Injectable()
export class ResourceEventsQueries {
  private readonly kept = new CachedStatements();

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) private readonly platform: SettingsOf<typeof platformSettings>,
  ) {}

  /** Oldest first. Errors: NotFound of the noteable. */
  async list(viewer: Viewer, on: NoteableReference, events: ResourceEvents, page: PageRequest): Promise<JsonPage> {
    const statement = this.pageStatement(on, events, page, valuesOfResourceEventsStatement(viewer, on));
    const [row] = await this.database.run<JsonPageRow>(statement);
    if (!row) throw new NotFound(on.kind.resource);
    return jsonPageOf(page, row);
  }

  /** Returns an event as JSON text. Errors: NotFound of the noteable, or of the event. */
  async find(
    viewer: Viewer,
    on: NoteableReference,
    { table, rows = table, joins, shape }: ResourceEvents,
    id: number,
  ): Promise<string> {
    const { kind, by } = on;
    const values = [...valuesOfResourceEventsStatement(viewer, on), id];
    const statement = this.kept.findOrCompose(`${kind.table}_by_${by}_${table}_one`, values, () => ({
      text: `select case when e.id is not null then ${shape.toSql(this.eventSqlArguments(kind)).sql} end as json
        from ${kind.table} i
        left join ${rows} e on e.id = $7::bigint and ${isResourceEventOfNoteableSql(kind)}
        left join directory_users u on u.id = e.user_id ${joins(ABOVE)}
        where ${isRequestedNoteableVisibleSql(on)}`,
      values,
    }));
    const [row] = await this.database.run<{ json: string | null }>(statement);
    if (!row) throw new NotFound(kind.resource);
    if (row.json === null) throw new NotFound();
    return row.json;
  }

  pageStatement(
    on: Pick<NoteableReference, 'kind' | 'by'>,
    { table, rows = table, joins, bytes, shape }: ResourceEvents,
    page: PageRequest,
    values: readonly unknown[],
  ): Statement {
    const { kind, by } = on;
    const name = isUsualPage(page) ? `${kind.table}_by_${by}_${table}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, () => {
      const joined = `left join directory_users u on u.id = e.user_id ${joins(ABOVE)}`;
      const list = new ListQuery<never>({
        name: table,
        from: `${rows} e`,
        carries: 'e.*',
        joins: joined,
        bytes,
        values,
      });
      const written = shape.toSql(this.eventSqlArguments(kind));
      return list
        .where(isResourceEventOfNoteableSql(kind))
        .orderBy([['e.created_at', 'asc']])
        .jsonSql(page, {
          rows: (...rows) => jsonArraySql(written, ...rows),
          from: `from ${kind.table} i where ${isRequestedNoteableVisibleSql(on)}`,
        });
    });
  }

  private eventSqlArguments({ type }: NoteableKind) {
    return { externalUrl: this.platform.externalUrl, type };
  }
}

function isResourceEventOfNoteableSql({ type }: NoteableKind): string {
  return `e.noteable_id = i.id and e.noteable_type = '${type}'`;
}

function isRequestedNoteableVisibleSql({ kind, by }: Pick<NoteableReference, 'kind' | 'by'>): string {
  return `${parentIdColumnSql(kind)} = $1::bigint and i.${by} = $2::bigint and ${kind.visibleSql(READER)}`;
}

function valuesOfResourceEventsStatement(viewer: Viewer, on: NoteableReference): unknown[] {
  const { viewerId, isMember, readsConfidential } = requireNoteableReader(viewer, on);
  return [on.parent.id, on.named, viewerId, isMember, readsConfidential, ancestorIdsOf(on.parent)];
}
