import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { JsonPage, PageRequest, SignedInViewer } from '@rookery/kernel';
import { COUNT_LIMIT, NotFound } from '@rookery/kernel';
import { Database, prepared, Work } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { TodoStatements } from './todos.statements';
import type { TodoFilter } from './todos.statements';

/** Units: rows. */
const CHUNK = 5000;
const markOne = prepared(
  'todos_mark_one',
  `update todos set state = 'done', updated_at = now() where id = $1::bigint and user_id = $2::bigint and state = 'pending'`,
);
const markAll = prepared(
  'todos_mark_all',
  `update todos set state = 'done', updated_at = now() where id in (
     select id from todos where user_id = $1::bigint and state = 'pending' order by id limit ${CHUNK} for update)
   returning 1`,
);

/** A person's own to-dos. Source: requirements 1 §3, §4 To-do items; reference work-tracking 6.1, 6.2. */
@Injectable()
export class TodosService {
  private readonly statements: TodoStatements;

  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly directory: Directory,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.statements = new TodoStatements(platform.externalUrl);
  }

  /**
   * One round trip while the copy of the directory is new enough: the same statement says how new it is. Otherwise the
   * directory waits or refuses, and the list is read again.
   */
  async page(viewer: SignedInViewer, filter: TodoFilter, page: PageRequest): Promise<JsonPage> {
    let row = await this.read(viewer, filter, page);
    if (!isCurrent(row, viewer)) {
      await this.directory.fresh(viewer);
      row = await this.read(viewer, filter, page);
    }
    const { counted } = row;
    return {
      json: row.json,
      total: counted > COUNT_LIMIT ? null : counted,
      hasNext: row.has_more ?? counted > page.page * page.perPage,
    };
  }

  /** Done already: as it is. Errors: NotFound for an item of another, or of something that he may no longer see. */
  async markDone(viewer: SignedInViewer, id: number): Promise<string> {
    await this.directory.fresh(viewer);
    return this.work.run(async (tx) => {
      await tx.prepared(markOne, [id, viewer.userId]);
      const [row] = await tx.prepared<{ json: string }>(this.statements.one, [...personValues(viewer), id]);
      if (!row) throw new NotFound();
      return row.json;
    });
  }

  /** In chunks, so that no statement grows with the number of items. */
  async markAllDone(viewer: SignedInViewer): Promise<void> {
    let marked: number;
    do {
      marked = (await this.work.run((tx) => tx.prepared(markAll, [viewer.userId]))).length;
    } while (marked === CHUNK);
  }

  private async read(viewer: SignedInViewer, filter: TodoFilter, page: PageRequest): Promise<PageRow> {
    const values = personValues(viewer);
    const { name, text } = this.statements.page(filter, page, values);
    const [row] = name
      ? await this.database.prepared<PageRow>({ name, text }, values)
      : await this.database.query<PageRow>(text, values);
    return row!;
  }
}

interface PageRow {
  readonly version: number;
  readonly epoch: string;
  readonly viewer_state: string | null;
  readonly counted: number;
  readonly has_more: boolean | null;
  readonly json: string;
}

/** The first three values of every statement on to-dos. */
function personValues(viewer: SignedInViewer): unknown[] {
  return [viewer.userId, viewer.isAdmin, viewer.isExternal];
}

function isCurrent(row: PageRow, { directory }: SignedInViewer): boolean {
  return row.epoch === directory.epoch && row.version >= directory.version && row.viewer_state === 'active';
}
