import { Inject, Injectable } from '@nestjs/common';
import { Database, HeadWatch } from '@rookery/persistence';
import type { LogHead, PreparedStatement } from '@rookery/persistence';
import { CHANGES, DECIDE } from './change-feed.queries';
import { ChangeLogHistoriesService } from './history/histories.service';

/** Parameters for reading the change log. Units: `waitMs` maximum wait for new changes; `limit` entries. */
export interface ChangesRequest {
  readonly after: number;
  readonly epoch: string;
  readonly waitMs: number;
  readonly limit: number;
  /** The life of the log in which the reader reached `after`. Empty if unknown. */
  readonly life: string;
  /** The service whose copy reads; null for a gateway, which keeps no copy. */
  readonly reader: string | null;
  /** The highest id of each kind that the copy has ever held. */
  readonly seen: Readonly<Record<string, number>>;
}

/** A request for a decision by a service whose copy is late. `ref` is an id or a full path. */
export interface ChangeQuestion {
  readonly viewerId: number | null;
  readonly kind: 'project' | 'group';
  readonly ref: number | string;
}

interface ChangesRow extends LogHead {
  readonly up_to: number;
  readonly is_known: boolean;
  readonly answer: string;
}

/** Reads the change log for services and gateways, and decides for services whose copy is late. */
@Injectable()
export class DirectoryChangeFeed {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(HeadWatch) private readonly watch: HeadWatch,
    @Inject(ChangeLogHistoriesService) private readonly histories: ChangeLogHistoriesService,
  ) {}

  /**
   * Returns the changes after the reader's version, as JSON text. An answer without changes is read at the start of the
   * request, so it only proves that nothing had been committed by then. The wait merely delays the reader's next
   * request.
   */
  async listChanges(request: ChangesRequest, signal?: AbortSignal): Promise<string> {
    const row = await this.readChanges(request);
    if (!row.is_known) {
      await this.histories.startAfter({ version: request.after, epoch: request.epoch });
      // The second read answers with the new epoch; the reader replaces its copy after reporting the ids it has seen.
      return this.listChanges(request, signal);
    }
    if (request.reader !== null) {
      if (row.epoch === request.epoch) await this.histories.recordReader(request.reader);
      else await this.histories.recordSeenIds(request.reader, request.seen);
    }
    const isIdle = row.epoch === request.epoch && row.version <= request.after;
    if (!isIdle || request.waitMs === 0) return row.answer;
    const hasMoved = await this.watch.waitPast(
      { version: request.after, epoch: request.epoch },
      request.waitMs,
      signal,
    );
    return hasMoved ? (await this.readChanges(request)).answer : row.answer;
  }

  /**
   * Returns the head of the log from the database, whichever replica wrote last. Readers that wait in this process are
   * woken as well.
   */
  async readHead(): Promise<LogHead> {
    const row = await this.watch.readRow();
    if (!row) throw new Error('directory_head has no row');
    return { version: row.version, epoch: row.epoch };
  }

  /** Finds a project or group with the access of the viewer, as an up-to-date copy would. Returns JSON text (`decide`). */
  async findWithAccess(question: ChangeQuestion): Promise<string> {
    const { statement, values } = chooseDecisionStatement(question);
    const [row] = await this.database.prepared<{ answer: string }>(statement, [question.viewerId, ...values]);
    if (!row) throw new Error('directory_head has no row');
    return row.answer;
  }

  private async readChanges({ after, limit, epoch, life }: ChangesRequest): Promise<ChangesRow> {
    const [row] = await this.database.prepared<ChangesRow>(CHANGES, [after, limit, epoch, life]);
    if (!row) throw new Error('directory_head has no row');
    return row;
  }
}

function chooseDecisionStatement({ kind, ref }: ChangeQuestion): {
  readonly statement: PreparedStatement;
  readonly values: readonly unknown[];
} {
  if (kind === 'group') {
    return { statement: typeof ref === 'number' ? DECIDE.groupById : DECIDE.groupByPath, values: [ref] };
  }
  if (typeof ref === 'number') return { statement: DECIDE.projectById, values: [ref] };
  const slash = ref.lastIndexOf('/');
  return { statement: DECIDE.projectByPath, values: [ref.slice(0, Math.max(slash, 0)), ref.slice(slash + 1)] };
}
