import { Inject, Injectable } from '@nestjs/common';
import { Database, HeadWatch } from '@rookery/persistence';
import type { Head, Prepared } from '@rookery/persistence';
import { CHANGES, DECIDE } from './change-feed.queries';
import { HistoriesService } from './history/histories.service';

/** What a reader of the log asks. Units: `waitMs` how long to wait for something new; `limit` entries. */
export interface ChangesRequest {
  readonly after: number;
  readonly epoch: string;
  readonly waitMs: number;
  readonly limit: number;
  /** In which life of the log the reader got to `after`; empty when they do not know. */
  readonly life: string;
  /** The service whose copy it is for; null for a gateway, which keeps nothing. */
  readonly reader: string | null;
  /** The highest id of each kind that the copy has ever held. */
  readonly seen: Readonly<Record<string, number>>;
}

/** What a service whose copy is behind wants decided. Shape: an id or a full path. */
export interface Question {
  readonly viewerId: number | null;
  readonly kind: 'project' | 'group';
  readonly ref: number | string;
}

interface ChangesRow extends Head {
  readonly up_to: number;
  readonly is_known: boolean;
  readonly answer: string;
}

/** Reads the change log for services and gateways, and decides for services whose copy is behind. */
@Injectable()
export class ChangeFeed {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(HeadWatch) private readonly watch: HeadWatch,
    @Inject(HistoriesService) private readonly histories: HistoriesService,
  ) {}

  /**
   * What changed after the reader's version, as JSON text. Shape: an answer without changes was read when the request
   * came in, so it says that nothing had been committed by then; the wait only saves the reader from asking at once.
   */
  async changes(request: ChangesRequest, signal?: AbortSignal): Promise<string> {
    const row = await this.read(request);
    if (!row.is_known) {
      await this.histories.doubted({ version: request.after, epoch: request.epoch });
      // Told once more, with what was seen: the reader drops its copy only with what it has told.
      return this.changes(request, signal);
    }
    if (request.reader !== null) {
      if (row.epoch === request.epoch) await this.histories.noted(request.reader);
      else await this.histories.heard(request.reader, request.seen);
    }
    const isIdle = row.epoch === request.epoch && row.version <= request.after;
    if (!isIdle || request.waitMs === 0) return row.answer;
    const hasMoved = await this.watch.beyond({ version: request.after, epoch: request.epoch }, request.waitMs, signal);
    return hasMoved ? (await this.read(request)).answer : row.answer;
  }

  /** Where the log stands now, whichever replica wrote last; those who wait here for something new are told besides. */
  async head(): Promise<Head> {
    const row = await this.watch.look();
    if (!row) throw new Error('directory_head has no row');
    return { version: row.version, epoch: row.epoch };
  }

  /** What the copy of a service would say about one project or group, as JSON text. */
  async decide(question: Question): Promise<string> {
    const { statement, values } = asked(question);
    const [row] = await this.database.prepared<{ answer: string }>(statement, [question.viewerId, ...values]);
    if (!row) throw new Error('directory_head has no row');
    return row.answer;
  }

  private async read({ after, limit, epoch, life }: ChangesRequest): Promise<ChangesRow> {
    const [row] = await this.database.prepared<ChangesRow>(CHANGES, [after, limit, epoch, life]);
    if (!row) throw new Error('directory_head has no row');
    return row;
  }
}

function asked({ kind, ref }: Question): { readonly statement: Prepared; readonly values: readonly unknown[] } {
  if (kind === 'group') {
    return { statement: typeof ref === 'number' ? DECIDE.groupById : DECIDE.groupByPath, values: [ref] };
  }
  if (typeof ref === 'number') return { statement: DECIDE.projectById, values: [ref] };
  const slash = ref.lastIndexOf('/');
  return { statement: DECIDE.projectByPath, values: [ref.slice(0, Math.max(slash, 0)), ref.slice(slash + 1)] };
}
