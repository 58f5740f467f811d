import { isIP } from 'node:net';
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
  readonly is_from_elsewhere: boolean;
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
/** How many addresses of its use a token shows. Source: reference identity-and-import 4.6; ADR 0151. */
const IPS_SHOWN = 5;
/** Conditions on a token `t`, asked when it is resolved and again when its use is written. */
const UNUSED_LATELY = `(t.last_used_at is null or t.last_used_at < statement_timestamp() - interval '${USE_RECORD_MINUTES} minutes')`;
const FROM_ELSEWHERE = `(not $2::text = any(t.last_used_ips)
  and (t.ips_changed_at is null or t.ips_changed_at < statement_timestamp() - interval '1 minute'))`;

/**
 * One snapshot of one statement on the primary: whatever change was answered before this question, its version is
 * part of the answer. Source: reliability-and-security 4.2 (4).
 */
const RESOLVE = prepared(
  'tokens-resolve',
  `select h.version, h.epoch, t.id as token_id, t.scopes, t.impersonation, t.revoked, t.created_by_id as impersonator_id,
     coalesce(t.expires_on <= (statement_timestamp() at time zone 'UTC')::date, false) as expired,
     (extract(epoch from t.expires_on::timestamp at time zone 'UTC') * 1000)::bigint as expires_at,
     ${UNUSED_LATELY} as is_unused_lately, coalesce(${FROM_ELSEWHERE}, false) as is_from_elsewhere,
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
    const digest = isDigest ? Buffer.from(request.digest!, 'hex') : null;
    const ip = addressOf(request.ip);
    const [row] = await this.db.prepared<ResolvedRow>(RESOLVE, [digest, ip]);
    const at = { version: row!.version, epoch: row!.epoch };
    if (request.digest === null) return { ...at, outcome: 'anonymous' };
    if (row!.token_id === null) return { ...at, outcome: 'unknown' };
    if (row!.revoked) {
      if (!request.rotating) return { ...at, outcome: 'revoked' };
      await this.tokens.revokeFamilyOf(row!.token_id);
      // Asked anew: the answer carries the version in which the family is dead, so that the gateway drops its lease.
      return this.resolve({ ...request, rotating: false });
    }
    return { ...at, ...this.judge(row!, row!.token_id, ip) };
  }

  async sudo(ref: string): Promise<ResolveSudoAnswer> {
    const user = await this.users.byIdOrUsername(ref);
    if (!user) return { user: null };
    const { id, username, admin, external } = user;
    const state = user.state === 'active' && user.confirmed_at === null ? 'unconfirmed' : user.state;
    return { user: { id, username, admin, external, bot: isBot(user.kind), state } };
  }

  private judge(row: ResolvedRow, tokenId: number, ip: string | null) {
    if (row.expired) return { outcome: 'expired' } as const;
    if (row.impersonation && !this.settings.impersonationEnabled) return { outcome: 'impersonation_disabled' } as const;
    if (row.state !== 'active') return { outcome: 'user_refused', reason: REASONS[row.state] } as const;
    if (row.is_unconfirmed) return { outcome: 'user_refused', reason: UNCONFIRMED } as const;
    if (row.is_unused_lately || row.is_from_elsewhere) this.recordUse(tokenId, ip);
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
  private recordUse(tokenId: number, ip: string | null): void {
    this.db
      .query(
        `with used as (
           update access_tokens t set
             last_used_at = case when ${UNUSED_LATELY} then now() else t.last_used_at end,
             last_used_ips = case when ${FROM_ELSEWHERE} then ($2 || t.last_used_ips)[1:${IPS_SHOWN}] else t.last_used_ips end,
             ips_changed_at = case when ${FROM_ELSEWHERE} then now() else t.ips_changed_at end
           where t.id = $1 and (${UNUSED_LATELY} or ${FROM_ELSEWHERE})
           returning t.user_id)
         update users u set last_activity_on = (now() at time zone 'UTC')::date from used
         where u.id = used.user_id and u.last_activity_on is distinct from (now() at time zone 'UTC')::date`,
        [tokenId, ip],
      )
      .catch((error: unknown) =>
        this.logger.warn({ err: error, token_id: tokenId }, 'the use of a token was not recorded'),
      );
  }
}

function isBot(kind: UserKind): boolean {
  return kind === 'project_bot' || kind === 'service_account';
}

/** An address as it is shown; one of IPv4 stays one behind a socket of IPv6. Null for what is none. */
function addressOf(ip: string | null): string | null {
  const plain = ip?.replace(/^::ffff:(?=\d+\.)/i, '') ?? '';
  return isIP(plain) === 0 ? null : plain;
}
