import { Inject, Injectable } from '@nestjs/common';
import type { ImportState } from '@rookery/contracts';
import { Jobs } from '@rookery/jobs';
import { Database, statement, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../import.config';
import type { FailedObject } from '../stages/stage-failure';
import { reportImportState, runImport } from './import-jobs';
import { ImportFailure, ProjectImport } from './project-import.entity';

/** An import as stored. */
export type ImportRow = RowOf<ProjectImport, Exclude<keyof ProjectImport, 'createdAt'>>;
export type FailureRow = RowOf<ImportFailure, Exclude<keyof ImportFailure, 'importId'>>;
export type NewImport = Omit<
  ProjectImport,
  'id' | 'projectId' | 'state' | 'jobId' | 'progressTry' | 'error' | 'createdAt' | 'updatedAt'
>;

/** States in which an import ends. It never leaves them. */
type FinalImportState = Extract<ImportState, 'finished' | 'failed' | 'canceled'>;

const COLUMNS = `i.id, i.import_key, i.project_id, i.user_id, i.source, i.state, i.upstream_name, i.upstream_url, i.clone_url,
  i.default_branch, i.api_url, i.page_size, i.is_optimistic, i.single_endpoint_notes, i.with_attachments,
  i.sealed_credential, i.job_id, i.progress_try, i.error,
  i.updated_at`;
/** Imports without progress for so long have failed. Source: reference identity-and-import 6.1. */
const STUCK_HOURS = 24;
/** A request that creates an import ends within this time. */
const PENDING_MINUTES = 10;
const CHUNK = 100;
/** Units: characters. */
const MAX_NAME = 255;
const MAX_MESSAGE = 1000;

const SCHEDULE = statement<{ id: number; project: number; job: number }, ImportRow>(
  'project_imports_schedule',
  `update project_imports i set state = 'scheduled', project_id = :project::bigint, job_id = :job::bigint, updated_at = now()
   where i.id = :id::bigint and i.state = 'pending' returning ${COLUMNS}`,
);
/** Begins an import unless its user has as many running imports as a user may have. */
const BEGIN = statement<{ id: number; most: number }, ImportRow>(
  'project_imports_begin',
  `update project_imports i set state = 'started',
     updated_at = case i.state when 'scheduled' then now() else i.updated_at end
   where i.id = :id::bigint and (i.state = 'started' or i.state = 'scheduled' and :most::integer > (
     select count(*) from project_imports o where o.user_id = i.user_id and o.state = 'started'))
   returning ${COLUMNS}`,
);
/** Lets transactions that begin and end imports of the same user run one after the other. */
const LOCK_USER = statement<{ id: number }, never>(
  'project_imports_lock_user',
  `select pg_advisory_xact_lock(hashtextextended('imports of user ' || user_id, 0))
   from project_imports where id = :id::bigint`,
);
const NEXT_OF_USER = statement<{ user: number }, { id: number }>(
  'project_imports_next_of_user',
  `select id from project_imports where user_id = :user::bigint and state = 'scheduled' order by id limit 1`,
);
/** Users with an import that is scheduled for long and none that runs, including those whose job waits. */
const FORGOTTEN = statement<{ count: number }, { user_id: number }>(
  'project_imports_forgotten',
  `select distinct i.user_id from project_imports i
   where i.state = 'scheduled' and i.updated_at < now() - interval '${PENDING_MINUTES} minutes' and not exists (
     select 1 from project_imports o where o.user_id = i.user_id and o.state = 'started')
   order by i.user_id limit :count::int`,
);
const END = statement<{ id: number; state: FinalImportState; error: string | null }, ImportRow>(
  'project_imports_end',
  `update project_imports i set state = :state, error = :error::text, sealed_credential = null, updated_at = now()
   where i.id = :id::bigint and i.state in ('pending', 'scheduled', 'started') returning ${COLUMNS}`,
);
const POSTPONE = statement<{ id: number; job: number }, { id: number }>(
  'project_imports_postpone',
  `update project_imports i set job_id = :job::bigint, progress_try = 0
   where i.id = :id::bigint and i.state in ('scheduled', 'started') returning i.id`,
);
const RECORD_PROGRESS = statement<{ id: number; attempt: number }, never>(
  'project_imports_note_try',
  `update project_imports set progress_try = :attempt::integer where id = :id::bigint and state = 'started'`,
);
const PENDING_OF_KEY = statement<{ key: string }, { id: number }>(
  'project_imports_pending_of_key',
  `select id from project_imports where import_key = :key::uuid and state = 'pending' for no key update`,
);
const DROP = statement<{ id: number }, never>(
  'project_imports_drop',
  `delete from project_imports where id = :id::bigint and state = 'pending'`,
);
const ONE = statement<{ id: number }, ImportRow>(
  'project_imports_one',
  `select ${COLUMNS} from project_imports i where i.id = :id::bigint`,
);
const OF_PROJECT = statement<{ project: number }, ImportRow>(
  'project_imports_of_project',
  `select ${COLUMNS} from project_imports i where i.project_id = :project::bigint order by i.id desc limit 1`,
);
const STUCK = statement<{ count: number }, { id: number }>(
  'project_imports_stuck',
  `select id from project_imports
   where state in ('pending', 'scheduled', 'started')
     and updated_at < now() - case state when 'pending' then interval '${PENDING_MINUTES} minutes'
       else interval '${STUCK_HOURS} hours' end
     and (state <> 'scheduled' or not exists (
       select 1 from project_imports o where o.user_id = project_imports.user_id and o.state = 'started'))
   order by updated_at limit :count::int`,
);
/** Failed imports without a project, which nothing shows. */
const DROP_FORGOTTEN = statement<object, never>(
  'project_imports_drop_forgotten',
  `delete from project_imports where project_id is null and state = 'failed' and updated_at < now() - interval '1 day'`,
);
interface AddFailuresParams {
  readonly id: number;
  readonly relations: readonly string[];
  readonly names: readonly string[];
  readonly messages: readonly string[];
}
const ADD_FAILURES = statement<AddFailuresParams, never>(
  'import_failures_add',
  `insert into import_failures (import_id, relation_name, object_name, message)
   select i.id, f.relation_name, f.object_name, f.message
   from project_imports i
     cross join unnest(:relations::text[], :names::text[], :messages::text[]) as f (relation_name, object_name, message)
   where i.id = :id::bigint
   on conflict do nothing`,
);
const FAILURES = statement<{ id: number; count: number }, FailureRow>(
  'import_failures_of_import',
  `select id, relation_name, object_name, message, created_at from import_failures
   where import_id = :id::bigint order by id limit :count::int`,
);
/** Listed failures of an import; an answer with more would not be useful. */
const SHOWN_FAILURES = 100;

/**
 * Rows of imports. An import ends once: of a cancellation and an end of the job, the first one wins. Each change of the
 * state is reported to identity by a job. Source: reference identity-and-import 6.1.
 */
@Injectable()
export class ImportRecords {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly jobs: Jobs,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /** Adds a pending import. Returns its id. */
  addImport(made: NewImport): Promise<number> {
    return this.work.run(async (tx) => {
      const { identifiers } = await tx.manager.insert(ProjectImport, { ...made, state: 'pending' });
      return Number(identifiers[0]!['id']);
    });
  }

  /** Schedules a pending import, whose project exists now. */
  scheduleImport(id: number, projectId: number): Promise<ImportRow | null> {
    return this.work.run((tx) => this.scheduleInTransaction(tx, id, projectId));
  }

  /** Schedules the pending import with this key. An import that was forgotten meanwhile has failed. */
  async scheduleByKey(tx: Tx, key: string, projectId: number): Promise<void> {
    const [found] = await tx.run(PENDING_OF_KEY, { key });
    if (found) await this.scheduleInTransaction(tx, found.id, projectId);
  }

  private async scheduleInTransaction(tx: Tx, id: number, projectId: number): Promise<ImportRow | null> {
    const job = await this.jobs.enqueue(tx, runImport, { import_id: id });
    const [row] = await tx.run(SCHEDULE, { id, project: projectId, job });
    return row ?? null;
  }

  /** Removes a pending import whose project was refused. */
  async dropImport(id: number): Promise<void> {
    await this.work.run((tx) => tx.run(DROP, { id }));
  }

  /** Removes the pending import with this key. */
  async dropByKey(key: string): Promise<void> {
    await this.work.run(async (tx) => {
      const [found] = await tx.run(PENDING_OF_KEY, { key });
      if (found) await tx.run(DROP, { id: found.id });
    });
  }

  /**
   * Marks an unfinished import as started. Returns null for an import that has ended or was deleted. Also returns null
   * for an import that has to wait for other imports of its user: the end of one of them starts it.
   */
  beginImport(id: number): Promise<ImportRow | null> {
    return this.work.run(async (tx) => {
      await tx.run(LOCK_USER, { id });
      const [row] = await tx.run(BEGIN, { id, most: this.settings.perUser });
      if (row) await this.queueStateReport(tx, id);
      return row ?? null;
    });
  }

  /**
   * Ends an import and wipes its credential, and starts the next one of the user. Returns null if it has ended already.
   */
  endImport(id: number, state: FinalImportState, error: string | null = null): Promise<ImportRow | null> {
    return this.work.run(async (tx) => {
      await tx.run(LOCK_USER, { id });
      const [row] = await tx.run(END, { id, state, error });
      if (!row) return null;
      await this.queueStateReport(tx, id);
      if (state === 'canceled' && row.job_id !== null) await this.jobs.cancelJob(tx, row.job_id);
      await this.startNextImport(tx, row.user_id);
      return row;
    });
  }

  /** Deletes imports whose project was refused after they were prepared. */
  async dropForgotten(): Promise<void> {
    await this.work.run((tx) => tx.run(DROP_FORGOTTEN, {}));
  }

  /** Starts imports whose predecessor was deleted together with its project. */
  async startForgotten(): Promise<void> {
    for (const { user_id: user } of await this.database.run(FORGOTTEN, { count: CHUNK })) {
      await this.work.run((tx) => this.startNextImport(tx, user));
    }
  }

  /**
   * Continues an unfinished import at a later time. It does not count as progress: a host that never answers does not keep an
   * import forever.
   */
  async postponeImport(id: number, at: Date): Promise<void> {
    await this.work.run(async (tx) => {
      const job = await this.jobs.enqueue(tx, runImport, { import_id: id }, { at });
      const [row] = await tx.run(POSTPONE, { id, job });
      if (!row) await this.jobs.cancelJob(tx, job);
    });
  }

  /** Notes that a try of the job made progress. */
  async recordProgress(id: number, attempt: number): Promise<void> {
    await this.database.run(RECORD_PROGRESS, { id, attempt });
  }

  /** Notes objects that could not be imported. */
  async addFailures(tx: Tx, id: number, failed: readonly FailedObject[]): Promise<void> {
    if (failed.length === 0) return;
    await tx.run(ADD_FAILURES, {
      id,
      relations: failed.map(({ relation }) => relation),
      // The name is part of an index, whose entries have a limit.
      names: failed.map(({ name }) => name.slice(0, MAX_NAME)),
      messages: failed.map(({ message }) => message.slice(0, MAX_MESSAGE)),
    });
  }

  async findImport(id: number): Promise<ImportRow | null> {
    const [row] = await this.database.run(ONE, { id });
    return row ?? null;
  }

  /** Returns the newest import of a project; null for none. */
  async ofProject(projectId: number): Promise<ImportRow | null> {
    const [row] = await this.database.run(OF_PROJECT, { project: projectId });
    return row ?? null;
  }

  listFailures(id: number): Promise<readonly FailureRow[]> {
    return this.database.run(FAILURES, { id, count: SHOWN_FAILURES });
  }

  /** Lists imports that have made no progress for too long, a limited number at a time. */
  async listStuck(): Promise<readonly number[]> {
    return (await this.database.run(STUCK, { count: CHUNK })).map(({ id }) => id);
  }

  private async startNextImport(tx: Tx, userId: number): Promise<void> {
    const [next] = await tx.run(NEXT_OF_USER, { user: userId });
    if (!next) return;
    const job = await this.jobs.enqueue(tx, runImport, { import_id: next.id });
    await tx.run(POSTPONE, { id: next.id, job });
  }

  private async queueStateReport(tx: Tx, id: number): Promise<void> {
    await this.jobs.enqueue(tx, reportImportState, { import_id: id });
  }
}
