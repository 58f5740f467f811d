import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type {
  ConfirmCallerAnswer,
  ConfirmCallerRequest,
  ResolveTokenAnswer,
  RunningJobAnswer,
  TokenHolder,
} from '@rookery/contracts';
import { Database, statement } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import { BOTS } from '../../users/bot-external-flag';
import type { User } from '../../users/user.entity';
import { PackageClient } from './package-client';
import { REFUSED_STATES, UNCONFIRMED } from './refused-states';

/** The user of a job, whose columns are null for a deleted one, with the newest version of the directory. */
interface JobUserRow extends RowOf<User, 'username' | 'state' | 'admin' | 'external'> {
  readonly version: number;
  readonly epoch: string;
  readonly user_id: number | null;
  readonly bot: boolean;
  readonly is_unconfirmed: boolean;
  readonly maker_id: number | null;
}

/** A bot is external if its creator is. */
const USER = statement<{ user: number | null }, JobUserRow>(
  'tokens-resolve-job',
  `select h.version, h.epoch, u.id as user_id, u.username, u.state, u.confirmed_at is null as is_unconfirmed,
     u.external or coalesce(m.external, false) as external, u.admin and u.kind = 'human' as admin, u.kind in ${BOTS} as bot,
     m.id as maker_id
   from directory_head h
   left join users u on u.id = :user
   left join users m on m.id = u.created_by_id and u.kind in ${BOTS}`,
);
/** The token of a job opens routes by a list of its own. Git asks for a scope, and gets the one to read. */
const SCOPES = ['read_repository'];

/**
 * Resolves tokens of jobs, which act as the user of the job while it runs. Package says whether it runs; the user is read
 * afterwards, so that both are newer than the request. Source: reference identity-and-import 4.10; ADR 0190.
 */
@Injectable()
export class JobTokenResolution {
  constructor(
    private readonly database: Database,
    private readonly packages: PackageClient,
  ) {}

  /** Errors: Unavailable. */
  async resolveJobToken(digest: string | null): Promise<ResolveTokenAnswer> {
    const isDigest = digest !== null && /^[0-9a-f]{64}$/i.test(digest);
    return this.resolveJobUser(isDigest ? await this.packages.runningJob({ digest: digest.toLowerCase() }) : null);
  }

  /** Confirms the claims about a caller with the token of a job. Errors: Unavailable. */
  async confirmJob(question: ConfirmCallerRequest & { readonly job_id: number }): Promise<ConfirmCallerAnswer> {
    const answer = await this.resolveJobUser(await this.packages.runningJob({ id: question.job_id }));
    const { version, epoch } = answer;
    if (answer.outcome !== 'valid') {
      const { outcome } = answer;
      return outcome === 'user_refused'
        ? { version, epoch, outcome, reason: answer.reason }
        : { version, epoch, outcome: 'unknown' };
    }
    const holds = isDeepStrictEqual(pickRightsClaims(answer.holder), pickRightsClaims(question));
    return { version, epoch, outcome: holds ? 'holds' : 'changed' };
  }

  private async resolveJobUser(job: RunningJobAnswer['job']): Promise<ResolveTokenAnswer> {
    const [row] = await this.database.run(USER, { user: job?.user_id ?? null });
    const { version, epoch, user_id, username, admin, external, bot, maker_id } = row!;
    if (job === null || user_id === null) return { version, epoch, outcome: 'unknown' };
    const reason = row!.state === 'active' ? null : REFUSED_STATES[row!.state];
    if (reason !== null) return { version, epoch, outcome: 'user_refused', reason };
    if (row!.is_unconfirmed) return { version, epoch, outcome: 'user_refused', reason: UNCONFIRMED };
    const holder: TokenHolder = {
      ...{ user_id, username, admin, external, bot },
      ...{ token_id: null, scopes: SCOPES, impersonator_id: null, maker_id, expires_at: null },
      job: { id: job.id, project_id: job.project_id },
    };
    return { version, epoch, outcome: 'valid', holder };
  }
}

function pickRightsClaims({
  user_id,
  admin,
  external,
  bot,
  scopes,
}: Pick<TokenHolder, 'user_id' | 'admin' | 'external' | 'bot' | 'scopes'>) {
  return { user_id, admin, external, bot, scopes };
}
