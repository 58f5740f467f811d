import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, NotModified } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKindAndColumn } from '../../base/noteables/reader';
import type { NoteableReference } from '../../base/noteables/reader';
import { toNoteReaderParams } from '../../talk/notes/notes.queries';
import { READER } from '../../talk/notes/note-statement';
import type { ReaderParams } from '../../talk/notes/note-statement';
import { isNamedNoteableVisibleSql, noteableStatementName } from '../../talk/notes/notes.statements';
import { TodosService } from './todos.service';

/** To-dos that users add for themselves. Source: reference work-tracking 6.1, 6.3. */
@Injectable()
export class TodoMarkingService {
  constructor(
    private readonly work: Work,
    private readonly todos: TodosService,
  ) {}

  /** Adds a to-do and returns it as JSON. Errors: NotModified if the caller has a pending to-do on the noteable. */
  markNoteable(viewer: SignedInViewer, on: NoteableReference): Promise<string> {
    return this.work.run(async (tx) =>
      this.todos.findTodo(tx, viewer, await this.markInTransaction(tx, viewer, on, NOW)),
    );
  }

  /**
   * Adds a to-do inside a given transaction and returns its id. The to-do is newer than the transaction, because the effects
   * of that transaction settle older ones.
   */
  async markInTransaction(tx: Tx, viewer: SignedInViewer, on: NoteableReference, later = JUST_AFTER): Promise<number> {
    const [row] = await tx.run(markingStatementsOf(on).mark, { ...toNoteReaderParams(viewer, on), later });
    if (!row) throw new NotFound(on.kind.resource);
    if (row.todo_id === null) throw new NotModified();
    return row.todo_id;
  }

  /** Marks all pending to-dos of the viewer on the noteable as done. Errors: NotModified if there are none. */
  async settleInTransaction(tx: Tx, viewer: SignedInViewer, on: NoteableReference): Promise<void> {
    const [row] = await tx.run(markingStatementsOf(on).settle, toNoteReaderParams(viewer, on));
    if (!row) throw new NotFound(on.kind.resource);
    if (row.settled === 0) throw new NotModified();
  }
}

interface MarkParams extends ReaderParams {
  /** Interval by which the to-do is newer than its transaction. */
  readonly later: string;
}
const NOW = '0';
const JUST_AFTER = '1 millisecond';

/**
 * Statements for a kind of noteable by which the caller adds a to-do on it (`mark`) and completes the pending ones
 * (`settle`). The noteable is locked, so that its deletion comes before or after. With concurrent calls the
 * unique index of pending to-dos lets one of them insert.
 */
const markingStatementsOf = cachePerNoteableKindAndColumn((kind, by) => {
  const { table, type } = kind;
  const place = kind.parent === 'project' ? ':parent::bigint, null::bigint' : 'null::bigint, :parent::bigint';
  const name = noteableStatementName(kind, by, 'todos_mark');
  return {
    mark: statement<MarkParams, { todo_id: number | null }>(
      name,
      () => `with t as materialized (
        select i.id from ${table} i where ${isNamedNoteableVisibleSql(kind, by)} for key share
      ), made as (
        insert into todos (user_id, author_id, action, project_id, group_id, target_type, target_id, source_event_id, created_at, updated_at)
        select ${READER.viewer}, ${READER.viewer}, 'marked', ${place}, '${type}', t.id, gen_random_uuid(), now() + :later::interval, now() + :later::interval
        from t where not exists (select 1 from todos p where p.user_id = ${READER.viewer} and p.target_id = t.id
          and p.target_type = '${type}' and p.state = 'pending')
        on conflict do nothing
        returning id
      )
      select made.id as todo_id from t left join made on true`,
    ),
    settle: statement<ReaderParams, { settled: number }>(
      `${name}_settle`,
      () => `with t as materialized (
        select i.id from ${table} i where ${isNamedNoteableVisibleSql(kind, by)} for key share
      ), settled as (
        update todos p set state = 'done', updated_at = now() from t
        where p.user_id = ${READER.viewer} and p.target_id = t.id and p.target_type = '${type}' and p.state = 'pending'
        returning 1
      )
      select (select count(*) from settled)::integer as settled from t`,
    ),
  };
});
