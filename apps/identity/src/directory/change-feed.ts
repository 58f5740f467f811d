import { Inject, Injectable } from '@nestjs/common';
import type { DecideRequest } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { CHANGES, DECIDE } from './change-feed.queries';
import { HeadWatch } from './head-watch';
import type { Head } from './head-watch';

/** What a reader of the log asks. Units: `waitMs` how long to wait for something new; `limit` entries. */
export interface ChangesRequest {
  readonly after: number;
  readonly epoch: string;
  readonly waitMs: number;
  readonly limit: number;
}

interface ChangesRow extends Head {
  readonly up_to: number;
  readonly answer: string;
}

/** Reads the change log for services and gateways, and decides for services whose copy is behind. */
@Injectable()
export class ChangeFeed {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(HeadWatch) private readonly watch: HeadWatch,
  ) {}

  /**
   * What changed after the reader's version, as JSON text. Shape: an answer without changes was read when the request
   * came in, so it says that nothing had been committed by then; the wait only saves the reader from asking at once.
   */
  async changes(request: ChangesRequest): Promise<string> {
    const row = await this.read(request);
    const isIdle = row.epoch === request.epoch && row.version <= request.after;
    if (!isIdle || request.waitMs === 0) return row.answer;
    const hasMoved = await this.watch.beyond({ version: request.after, epoch: request.epoch }, request.waitMs);
    return hasMoved ? (await this.read(request)).answer : row.answer;
  }

  /** What the copy of a service would say about one project or group, as JSON text. */
  async decide(request: DecideRequest): Promise<string> {
    const { statement, values } = questionOf(request);
    const [row] = await this.database.prepared<{ answer: string }>(statement, [request.viewer_id, ...values]);
    if (!row) throw new Error('directory_head has no row');
    return row.answer;
  }

  private async read({ after, limit, epoch }: ChangesRequest): Promise<ChangesRow> {
    const [row] = await this.database.prepared<ChangesRow>(CHANGES, [after, limit, epoch]);
    if (!row) throw new Error('directory_head has no row');
    return row;
  }
}

function questionOf(request: DecideRequest): { readonly statement: Prepared; readonly values: readonly unknown[] } {
  const { project, group } = request;
  if (typeof project === 'number') return { statement: DECIDE.projectById, values: [project] };
  if (typeof group === 'number') return { statement: DECIDE.groupById, values: [group] };
  if (typeof group === 'string') return { statement: DECIDE.groupByPath, values: [group] };
  if (typeof project !== 'string') throw new InvalidParameters(['project, group are missing']);
  const slash = project.lastIndexOf('/');
  return { statement: DECIDE.projectByPath, values: [project.slice(0, Math.max(slash, 0)), project.slice(slash + 1)] };
}
