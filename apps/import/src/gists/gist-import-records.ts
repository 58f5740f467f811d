import { Injectable } from '@nestjs/common';
import { int, MAX_LEFT_OUT, object } from '@rookery/contracts';
import { defineJob, Jobs } from '@rookery/jobs';
import { Database, statement, Work } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import type { GistImport, LeftOutGist } from './gist-import.entity';

/** Runs an import of gists. */
export const importGists = defineJob('import-gists', object({ import_id: int }), {
  key: ({ import_id }) => String(import_id),
  tries: 4,
});

export type GistImportRow = RowOf<GistImport, Exclude<keyof GistImport, 'createdAt' | 'updatedAt'>>;
type NewGistImport = Pick<GistImport, 'importKey' | 'userId' | 'apiUrl' | 'sealedCredential'>;

const COLUMNS = 'id, import_key, user_id, state, api_url, sealed_credential, next_page, pages, left_out';
/** Imports without progress for so long have failed; ended ones are deleted after a week. */
const STUCK_HOURS = 24;
const KEPT_DAYS = 7;

interface AddGistImportParams {
  readonly key: string;
  readonly user: number;
  readonly api: string;
  readonly credential: Buffer | null;
}
const ADD = statement<AddGistImportParams, { id: number }>(
  'gist_imports_add',
  `insert into gist_imports (import_key, user_id, api_url, sealed_credential)
   values (:key::uuid, :user::bigint, :api, :credential::bytea)
   on conflict (user_id) where state = 'started' do nothing returning id`,
);
const RUNNING = statement<{ user: number }, { id: number }>(
  'gist_imports_running',
  `select id from gist_imports where user_id = :user::bigint and state = 'started'`,
);
const ONE = statement<{ id: number }, GistImportRow>(
  'gist_imports_one',
  `select ${COLUMNS} from gist_imports where id = :id::bigint`,
);
/** Changes nothing if the page was recorded already. The e-mail names the first gists that were left out only. */
const ADVANCE = statement<{ id: number; pages: number; next: string | null; left: string }, GistImportRow>(
  'gist_imports_advance',
  `update gist_imports set next_page = :next::text, pages = pages + 1, updated_at = now(),
     left_out = case when jsonb_array_length(left_out) < ${MAX_LEFT_OUT} then left_out || :left::jsonb else left_out end
   where id = :id::bigint and state = 'started' and pages = :pages::integer returning ${COLUMNS}`,
);
const END = statement<{ id: number; state: 'finished' | 'failed' }, { id: number }>(
  'gist_imports_end',
  `update gist_imports set state = :state, sealed_credential = null, updated_at = now()
   where id = :id::bigint and state = 'started' returning id`,
);
const FAIL_STUCK = statement<object, never>(
  'gist_imports_fail_stuck',
  `update gist_imports set state = 'failed', sealed_credential = null
   where state = 'started' and updated_at < now() - interval '${STUCK_HOURS} hours'`,
);
const DROP_OLD = statement<object, never>(
  'gist_imports_drop_old',
  `delete from gist_imports where state <> 'started' and updated_at < now() - interval '${KEPT_DAYS} days'`,
);

/** Rows of imports of gists. */
@Injectable()
export class GistImportRecords {
  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly jobs: Jobs,
  ) {}

  async isRunning(user: number): Promise<boolean> {
    return (await this.database.run(RUNNING, { user })).length > 0;
  }

  /** Schedules an import. Returns false if one of the user runs. */
  addImport({
    importKey: key,
    userId: user,
    apiUrl: api,
    sealedCredential: credential,
  }: NewGistImport): Promise<boolean> {
    return this.work.run(async (tx) => {
      const [row] = await tx.run(ADD, { key, user, api, credential });
      if (row) await this.jobs.enqueue(tx, importGists, { import_id: row.id });
      return row !== undefined;
    });
  }

  async findImport(id: number): Promise<GistImportRow | null> {
    const [row] = await this.database.run(ONE, { id });
    return row ?? null;
  }

  /** Records a page. Returns null if the import has ended or the page was recorded already. */
  async advanceImport(
    { id, pages }: Pick<GistImportRow, 'id' | 'pages'>,
    next: string | null,
    leftOut: readonly LeftOutGist[],
  ): Promise<GistImportRow | null> {
    const [row] = await this.work.run((tx) => tx.run(ADVANCE, { id, pages, next, left: JSON.stringify(leftOut) }));
    return row ?? null;
  }

  async endImport(id: number, state: 'finished' | 'failed'): Promise<void> {
    await this.work.run((tx) => tx.run(END, { id, state }));
  }

  /** Continues an import later. */
  async postponeImport(id: number, at: Date): Promise<void> {
    await this.work.run((tx) => this.jobs.enqueue(tx, importGists, { import_id: id }, { at }));
  }

  /** Ends imports without progress, and deletes old ones. */
  async sweepImports(): Promise<void> {
    await this.work.run((tx) => tx.run(FAIL_STUCK, {}));
    await this.work.run((tx) => tx.run(DROP_OLD, {}));
  }
}
