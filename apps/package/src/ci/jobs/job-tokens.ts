import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import { digestToken } from '../pipelines/token-digest';
import { JOB_COLUMNS } from './ci-job-rows';
import type { CiJobRow } from './ci-job-rows';

/** Prefix of job tokens. Source: reference identity-and-import 4.2. */
const PREFIX = 'glcbt-';
/** Maximum duration of a job, and so the maximum lifetime of its token. Units: ms. */
const LONGEST_RUN_MS = 3_600_000;

/** A job, with whether its token works now. */
export interface TokenJob extends CiJobRow {
  readonly is_running: boolean;
}

const BY_DIGEST = statement<{ digest: Buffer; now: Date }, TokenJob>(
  'ci_jobs_by_token',
  `select ${JOB_COLUMNS}, j.status = 'running' and j.token_until > :now::timestamptz as is_running
   from ci_jobs j where j.token_digest = :digest`,
);

const BY_ID = statement<{ id: number; now: Date }, TokenJob>(
  'ci_jobs_running_by_id',
  `select ${JOB_COLUMNS}, j.status = 'running' and j.token_until > :now::timestamptz as is_running
   from ci_jobs j where j.id = :id::bigint and j.token_digest is not null`,
);

/**
 * Tokens of jobs. A token works while its job runs, for an hour at most. Only its SHA-256 is stored. Source: reference
 * identity-and-import 4.10.
 */
@Injectable()
export class JobTokens {
  constructor(
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Generates a token: `glcbt-` and 27 URL-safe characters. */
  createToken(): { readonly token: string; readonly digest: Buffer; readonly until: Date } {
    const token = PREFIX + randomBytes(20).toString('base64url');
    return { token, digest: digestToken(token), until: new Date(this.clock.now().getTime() + LONGEST_RUN_MS) };
  }

  /** Whether a text looks like a job token. */
  isJobToken(token: string): boolean {
    return token.startsWith(PREFIX);
  }

  /** Returns the job of a token; null for an unknown token. */
  async findJobInAnyState(token: string, reads: SqlReader = this.database): Promise<TokenJob | null> {
    const [job] = await reads.run(BY_DIGEST, { digest: digestToken(token), now: this.clock.now() });
    return job ?? null;
  }

  /** Returns a job that runs now, by the digest of its token or by its id; null for any other. */
  async findRunningJob(
    by: { readonly digest: Buffer } | { readonly id: number },
    reads: SqlReader = this.database,
  ): Promise<TokenJob | null> {
    const now = this.clock.now();
    const [job] = 'id' in by ? await reads.run(BY_ID, { id: by.id, now }) : await reads.run(BY_DIGEST, { ...by, now });
    return job?.is_running ? job : null;
  }
}
