import { Injectable } from '@nestjs/common';
import { Database, statement, Work } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import type { FailedObject } from '../stages/stage-failure';
import type { StagePage, StageProgress } from '../stages/stage-progress';
import { ImportRecords } from './import-records';
import type { ImportStage } from './project-import.entity';

export type StageRow = RowOf<ImportStage, 'name' | 'fetched' | 'imported'>;

interface StageKeyParams {
  readonly id: number;
  readonly name: string;
}
const ONE = statement<StageKeyParams, RowOf<ImportStage, 'isDone' | 'nextPage' | 'pages'>>(
  'import_stages_one',
  `select is_done, next_page, pages from import_stages where import_id = :id::bigint and name = :name`,
);
const ALL = statement<{ id: number }, StageRow>(
  'import_stages_of_import',
  `select name, fetched, imported from import_stages where import_id = :id::bigint`,
);
/** Stores the progress of a stage, and records that the import makes progress. */
const ADVANCE = statement<StageKeyParams & { next: string | null; fetched: number; imported: number }, never>(
  'import_stages_advance',
  `with progress as (
     update project_imports set updated_at = now() where id = :id::bigint and state = 'started' returning id
   )
   insert into import_stages as s (import_id, name, is_done, next_page, pages, fetched, imported)
   select id, :name, :next::text is null, :next::text, 1, :fetched::integer, :imported::integer from progress
   on conflict (import_id, name) do update set is_done = excluded.is_done, next_page = excluded.next_page,
     pages = s.pages + 1, fetched = s.fetched + excluded.fetched, imported = s.imported + excluded.imported`,
);

/** Row that counts attachments. They have no stage of their own: the stages of the texts import them. */
export const ATTACHMENTS = 'attachment';

/** Progress of the stages of imports, and the numbers of their objects. Source: reference identity-and-import 6.2. */
@Injectable()
export class ImportStageRecords {
  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly records: ImportRecords,
  ) {}

  async readProgress(id: number, name: string): Promise<StageProgress> {
    const [row] = await this.database.run(ONE, { id, name });
    return { isDone: row?.is_done ?? false, nextPage: row?.next_page ?? null, pages: row?.pages ?? 0 };
  }

  /** Records a page of a stage, with the objects that could not be imported. Without a next page the stage is done. */
  async advanceStage(
    id: number,
    name: string,
    { next, fetched, imported, attachments }: StagePage,
    failed: readonly FailedObject[],
  ): Promise<void> {
    await this.work.run(async (tx) => {
      await this.records.addFailures(tx, id, failed);
      await tx.run(ADVANCE, { id, name, next, fetched, imported });
      if (attachments && attachments.fetched > 0)
        await tx.run(ADVANCE, { id, name: ATTACHMENTS, next: null, ...attachments });
    });
  }

  ofImport(id: number): Promise<readonly StageRow[]> {
    return this.database.run(ALL, { id });
  }
}
