import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { DependencyExport, ExportType } from './dependency-export.entity';

/** An export as stored. */
export type ExportRow = RowOf<
  DependencyExport,
  | 'id'
  | 'projectId'
  | 'groupId'
  | 'pipelineId'
  | 'authorId'
  | 'exportType'
  | 'sendEmail'
  | 'status'
  | 'sha256'
  | 'size'
  | 'finishedAt'
  | 'expiresAt'
>;

/** An export to create, either of a project or of a group. A pipeline belongs to the project. */
export interface NewExport {
  readonly projectId: number | null;
  readonly groupId: number | null;
  readonly pipelineId: number | null;
  readonly authorId: number;
  readonly exportType: ExportType;
  readonly sendEmail: boolean;
}

const COLUMNS = `e.id, e.project_id, e.group_id, e.pipeline_id, e.author_id, e.export_type, e.send_email, e.status, e.sha256,
  e.size, e.finished_at, e.expires_at`;
/** Source: reference packages-and-admin 6.1. */
const KEPT_MS = 7 * 86_400_000;
/** An export that takes longer counts as failed. */
const MAX_RUN_MS = 86_400_000;
const CHUNK = 500;

const ADD = statement<NewExport & { readonly now: Date; readonly until: Date }, ExportRow>(
  'dependency_exports_add',
  `insert into dependency_exports as e (project_id, group_id, pipeline_id, author_id, export_type, send_email, created_at,
     expires_at)
   values (:projectId::bigint, :groupId::bigint, :pipelineId::bigint, :authorId::bigint, :exportType, :sendEmail::boolean,
     :now::timestamptz, :until::timestamptz)
   returning ${COLUMNS}`,
);
const ONE = statement<{ id: number; now: Date }, ExportRow>(
  'dependency_exports_one',
  `select ${COLUMNS} from dependency_exports e where e.id = :id::bigint and e.expires_at > :now::timestamptz`,
);
const BEGIN = statement<{ id: number }, ExportRow>(
  'dependency_exports_begin',
  `update dependency_exports e set status = 'running'
   where e.id = :id::bigint and e.status in ('created', 'running') returning ${COLUMNS}`,
);
const STOP = statement<{ id: number; status: 'created' | 'failed' }, never>(
  'dependency_exports_stop',
  `update dependency_exports set status = :status where id = :id::bigint and status = 'running'`,
);
interface FinishExportParams {
  readonly id: number;
  readonly sha256: string;
  readonly size: number;
  readonly now: Date;
  readonly until: Date;
}
const FINISH = statement<FinishExportParams, ExportRow>(
  'dependency_exports_finish',
  `update dependency_exports e set status = 'finished', sha256 = :sha256, size = :size::bigint,
     finished_at = :now::timestamptz, expires_at = :until::timestamptz
   where e.id = :id::bigint and e.status = 'running' returning ${COLUMNS}`,
);
const FAIL_OVERDUE = statement<{ before: Date; count: number }, { id: number }>(
  'dependency_exports_fail_overdue',
  `update dependency_exports set status = 'failed' where id in (
     select id from dependency_exports where status in ('created', 'running') and created_at <= :before::timestamptz
     order by created_at limit :count::int for update skip locked)
   returning id`,
);
const REMOVE_EXPIRED = statement<{ now: Date; count: number }, { id: number }>(
  'dependency_exports_remove_expired',
  `delete from dependency_exports where id in (
     select id from dependency_exports where expires_at <= :now::timestamptz
     order by expires_at limit :count::int for update skip locked)
   returning id`,
);

/** Rows of exports and their states. Source: reference packages-and-admin 6.1. */
@Injectable()
export class DependencyExportsQueries {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async addExport(tx: Tx, made: NewExport): Promise<ExportRow> {
    const now = this.clock.now();
    const [row] = await tx.run(ADD, { ...made, now, until: dependencyExportExpiryTime(now) });
    return row!;
  }

  /** Returns an export that has not expired; null for none. */
  async findExport(id: number): Promise<ExportRow | null> {
    const [row] = await this.database.run(ONE, { id, now: this.clock.now() });
    return row ?? null;
  }

  /** Marks an unfinished export as running; null for one that has ended or was deleted. */
  async beginExport(tx: Tx, id: number): Promise<ExportRow | null> {
    const [row] = await tx.run(BEGIN, { id });
    return row ?? null;
  }

  /** Ends a try: the export waits for the next one, or has failed. */
  async endAttempt(tx: Tx, id: number, status: 'created' | 'failed'): Promise<void> {
    await tx.run(STOP, { id, status });
  }

  /** Records the file; null if the export has been deleted or has failed meanwhile. */
  async finishExport(
    tx: Tx,
    id: number,
    file: { readonly sha256: string; readonly size: number },
  ): Promise<ExportRow | null> {
    const now = this.clock.now();
    const [row] = await tx.run(FINISH, {
      id,
      sha256: file.sha256,
      size: file.size,
      now,
      until: dependencyExportExpiryTime(now),
    });
    return row ?? null;
  }

  /** Fails exports that take too long. Returns whether there may be more. */
  async failOverdue(tx: Tx): Promise<boolean> {
    const before = new Date(this.clock.now().getTime() - MAX_RUN_MS);
    return (await tx.run(FAIL_OVERDUE, { before, count: CHUNK })).length === CHUNK;
  }

  /** Deletes expired exports. Returns whether there may be more. */
  async removeExpired(tx: Tx): Promise<boolean> {
    return (await tx.run(REMOVE_EXPIRED, { now: this.clock.now(), count: CHUNK })).length === CHUNK;
  }
}

function dependencyExportExpiryTime(now: Date): Date {
  return new Date(now.getTime() + KEPT_MS);
}
