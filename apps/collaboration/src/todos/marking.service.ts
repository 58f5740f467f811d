import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, NotModified } from '@rookery/kernel';
import { KeptStatements, Work } from '@rookery/persistence';
import { perNaming } from '../noteables/reader';
import type { NamedNoteable } from '../noteables/reader';
import { readerValues } from '../notes/notes.queries';
import { namedVisibleSql, READER, statementsName } from '../notes/notes.statements';
import { TodosService } from './todos.service';

/** To-dos that people make for themselves. Source: reference work-tracking 6.1, 6.3. */
@Injectable()
export class MarkingService {
  private readonly kept = new KeptStatements();

  constructor(
    private readonly work: Work,
    private readonly todos: TodosService,
  ) {}

  /** Errors: NotModified while anything of the caller's waits on the thing already. */
  async mark(viewer: SignedInViewer, on: NamedNoteable): Promise<string> {
    const values = readerValues(viewer, on);
    const { name, text } = markOf(on);
    const statement = this.kept.statement(name, values, () => ({ text, values }));
    return this.work.run(async (tx) => {
      const [row] = await tx.run<{ todo_id: number | null }>(statement);
      if (!row) throw new NotFound(on.kind.resource);
      if (row.todo_id === null) throw new NotModified();
      return this.todos.one(tx, viewer, row.todo_id);
    });
  }
}

/** The thing is held, so that its deletion comes before or after. The index of what waits lets one of many calls win. */
const markOf = perNaming((kind, by) => {
  const { table, type } = kind;
  const projectId = kind.parent === 'project' ? '$1::bigint' : 'null::bigint';
  return {
    name: statementsName(kind, by, 'todos_mark'),
    text: `with t as materialized (
        select i.id from ${table} i where ${namedVisibleSql(kind, by)} for key share
      ), made as (
        insert into todos (user_id, author_id, action, project_id, target_type, target_id, source_event_id, created_at, updated_at)
        select ${READER.viewer}, ${READER.viewer}, 'marked', ${projectId}, '${type}', t.id, gen_random_uuid(), now(), now()
        from t where not exists (select 1 from todos p where p.user_id = ${READER.viewer} and p.target_id = t.id
          and p.target_type = '${type}' and p.state = 'pending')
        on conflict do nothing
        returning id
      )
      select made.id as todo_id from t left join made on true`,
  };
});
