import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { JsonPage, PageRequest, SignedInViewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import { TodoStatements } from './todos.statements';
import type { TodoFilter, TodoPageRow, ViewerParams } from './todos.statements';

/** Units: rows. */
const CHUNK = 5000;
const markOne = statement<{ todo: number; viewer: number }, never>(
  'todos_mark_one',
  `update todos set state = 'done', updated_at = now() where id = :todo::bigint and user_id = :viewer::bigint and state = 'pending'`,
);
const markAll = statement<{ viewer: number }, never>(
  'todos_mark_all',
  `update todos set state = 'done', updated_at = now() where id in (
     select id from todos where user_id = :viewer::bigint and state = 'pending' order by id limit ${CHUNK} for update)
   returning 1`,
);

/** Lists and completes the caller's own to-dos. Source: requirements 1 §3, §4 To-do items; reference work-tracking 6.1, 6.2. */
@Injectable()
export class TodosService {
  private readonly statements: TodoStatements;

  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly directory: Directory,
    kinds: NoteableKinds,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.statements = new TodoStatements(kinds, platform.externalUrl);
  }

  /**
   * Reads a page of the list. One round trip suffices while the copy of the directory is current enough, since the same
   * statement returns its position. Otherwise the directory waits or refuses, and the list is read again. Users with to-dos
   * of groups cost a second read.
   */
  async list(viewer: SignedInViewer, filter: TodoFilter, page: PageRequest): Promise<JsonPage> {
    let row = await this.readPage(viewer, filter, page);
    if (!isDirectoryAsCurrentAsRequest(row, viewer)) {
      await this.directory.requireFresh(viewer);
      row = await this.readPage(viewer, filter, page);
    }
    return jsonPageOf(page, row);
  }

  /**
   * Marks a to-do as done and returns it as JSON; one that is done stays unchanged. Errors: NotFound for a to-do of another
   * user, or on a target that the viewer may no longer see.
   */
  async markDone(viewer: SignedInViewer, id: number): Promise<string> {
    await this.directory.requireFresh(viewer);
    return this.work.run(async (tx) => {
      await tx.run(markOne, { todo: id, viewer: viewer.userId });
      return this.findTodo(tx, viewer, id);
    });
  }

  /** Returns one to-do as JSON. Errors: NotFound as above. */
  async findTodo(reads: SqlReader, viewer: SignedInViewer, id: number): Promise<string> {
    const [row] = await reads.run(this.statements.one, { ...viewerValues(viewer), todo: id });
    if (!row) throw new NotFound();
    return row.json;
  }

  /** Marks all pending to-dos as done, in chunks, so that the cost of a statement is bounded. */
  async markAllDone(viewer: SignedInViewer): Promise<void> {
    let marked: number;
    do {
      marked = (await this.work.run((tx) => tx.run(markAll, { viewer: viewer.userId }))).length;
    } while (marked === CHUNK);
  }

  private async readPage(viewer: SignedInViewer, filter: TodoFilter, page: PageRequest): Promise<TodoPageRow> {
    const values = viewerValues(viewer);
    const [row] = await this.database.run(this.statements.pageStatement('ofProjects', filter, page, values));
    if (!row!.is_partial) return row!;
    const [all] = await this.database.run(this.statements.pageStatement('all', filter, page, values));
    return all!;
  }
}

function viewerValues({ userId, isAdmin, isExternal }: SignedInViewer): ViewerParams {
  return { viewer: userId, is_admin: isAdmin, is_external: isExternal };
}

function isDirectoryAsCurrentAsRequest(row: TodoPageRow, { directory }: SignedInViewer): boolean {
  return row.epoch === directory.epoch && row.version >= directory.version && row.viewer_state === 'active';
}
