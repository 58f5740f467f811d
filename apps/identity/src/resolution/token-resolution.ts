import { Inject, Injectable } from '@nestjs/common';
import type { ResolveSudoAnswer, ResolveTokenAnswer, ResolveTokenRequest } from '@rookery/contracts';
import { Database, prepared } from '@rookery/persistence';
import type { Logger, SettingsOf } from '@rookery/platform';
import { LOGGER } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { AccessTokensService } from '../tokens/access-tokens.service';
import type { UserKind, UserState } from '../users/user.entity';
import { UsersQueries } from '../users/users.queries';

interface ResolvedRow {
  readonly version: number;
  readonly epoch: string;
  readonly token_id: number | null;
  readonly scopes: string[];
  readonly impersonation: boolean;
  readonly impersonator_id: number | null;
  readonly revoked: boolean;
  readonly expired: boolean;
  readonly expires_at: number | null;
  readonly is_unused_lately: boolean;
  readonly user_id: number;
  readonly username: string;
  readonly state: UserState;
  readonly is_unconfirmed: boolean;
  readonly kind: UserKind;
  readonly admin: boolean;
  readonly external: boolean;
}

/** Units: minutes between two records of a token's use. Source: reference identity-and-import 4.6. */
const USE_RECORD_MINUTES = 10;

/**
 * One snapshot of one statement on the primary: whatever change was answered before this question, its version is
 * part of the answer. Source: reliability-and-security 4.2 (4).
 */
const RESOLVE = prepared(
  'tokens-resolve',
  `select h.version, h.epoch, t.id as token_id, t.scopes, t.impersonation, t.revoked, t.created_by_id as impersonator_id,
     coalesce(t.expires_on <= (statement_timestamp() at time zone 'UTC')::date, false) as expired,
     (extract(epoch from t.expires_on::timestamp at time zone 'UTC') * 1000)::bigint as expires_at,
     t.last_used_at is null or t.last_used_at < statement_timestamp() - interval '${USE_RECORD_MINUTES} minutes' as is_unused_lately,
     u.id as user_id, u.username, u.state, u.confirmed_at is null as is_unconfirmed, u.kind, u.admin, u.external
   from directory_head h
   left join access_tokens t on t.digest = $1
   left join users u on u.id = t.user_id`,
);

const REASONS: Readonly<Record<Exclude<UserState, 'active'>, string>> = {
  blocked: 'Your account has been blocked',
  deactivated: 'Your account has been deactivated',
  banned: 'Your account has been banned',
  blocked_pending_approval: 'Your account is pending approval',
};

/** Whose primary address nobody has confirmed yet: he is active, and cannot act. Source: reference 4.1, 5; ADR 0130. */
const UNCONFIRMED =
  'Your primary email address is not confirmed. Please check your inbox for the confirmation instructions.';

/** Answers the gateway: who presents this token, and how new must data be to decide for him? */
@Injectable()
export class TokenResolution {
  constructor(
    private readonly db: Database,
    private readonly tokens: AccessTokensService,
    private readonly users: UsersQueries,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  async resolve(request: ResolveTokenRequest): Promise<ResolveTokenAnswer> {
    const isDigest = request.digest !== null && /^[0-9a-f]{64}$/i.test(request.digest);
    const [row] = await this.db.prepared<ResolvedRow>(RESOLVE, [isDigest ? Buffer.from(request.digest!, 'hex') : null]);
    const at = { version: row!.version, epoch: row!.epoch };
    if (request.digest === null) return { ...at, outcome: 'anonymous' };
    if (row!.token_id === null) return { ...at, outcome: 'unknown' };
    if (row!.revoked) {
      if (!request.rotating) return { ...at, outcome: 'revoked' };
      await this.tokens.revokeFamilyOf(row!.token_id);
      // Asked anew: the answer carries the version in which the family is dead, so that the gateway drops its lease.
      return this.resolve({ ...request, rotating: false });
    }
    return { ...at, ...this.judge(row!, row!.token_id) };
  }

  async sudo(ref: string): Promise<ResolveSudoAnswer> {
    const user = await this.users.byIdOrUsername(ref);
    if (!user) return { user: null };
    const { id, username, admin, external } = user;
    const state = user.state === 'active' && user.confirmed_at === null ? 'unconfirmed' : user.state;
    return { user: { id, username, admin, external, bot: isBot(user.kind), state } };
  }

  private judge(row: ResolvedRow, tokenId: number) {
    if (row.expired) return { outcome: 'expired' } as const;
    if (row.impersonation && !this.settings.impersonationEnabled) return { outcome: 'impersonation_disabled' } as const;
    if (row.state !== 'active') return { outcome: 'user_refused', reason: REASONS[row.state] } as const;
    if (row.is_unconfirmed) return { outcome: 'user_refused', reason: UNCONFIRMED } as const;
    if (row.is_unused_lately) this.recordUse(tokenId);
    const { user_id, username, admin, external, scopes, expires_at } = row;
    const impersonator_id = row.impersonation ? row.impersonator_id : null;
    const holder = {
      user_id,
      username,
      admin,
      external,
      bot: isBot(row.kind),
      token_id: tokenId,
      scopes,
      impersonator_id,
    };
    return { outcome: 'valid', holder: { ...holder, expires_at } } as const;
  }

  /** Beside the answer: nobody waits for it, and `updated_at` does not move. The day of it is the person's last activity. */
  private recordUse(tokenId: number): void {
    this.db
      .query(
        `with used as (
           update access_tokens set last_used_at = now()
           where id = $1 and (last_used_at is null or last_used_at < now() - interval '${USE_RECORD_MINUTES} minutes')
           returning user_id)
         update users u set last_activity_on = (now() at time zone 'UTC')::date from used
         where u.id = used.user_id and u.last_activity_on is distinct from (now() at time zone 'UTC')::date`,
        [tokenId],
      )
      .catch((error: unknown) =>
        this.logger.warn({ err: error, token_id: tokenId }, 'the use of a token was not recorded'),
      );
  }
}

function isBot(kind: UserKind): boolean {
  return kind === 'project_bot' || kind === 'service_account';
}
