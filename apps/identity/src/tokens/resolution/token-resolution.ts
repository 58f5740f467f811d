import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import type {
  ConfirmCallerAnswer,
  ConfirmCallerRequest,
  ResolveSudoAnswer,
  ResolveTokenAnswer,
  ResolveTokenRequest,
  TokenHolder,
} from '@rookery/contracts';
import { SUDO_REASONS } from '@rookery/contracts';
import { CLOCK } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import { Database, statement } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../../identity.config';
import type { AccessToken } from '../access-token.entity';
import { AccessTokensQueries, ISSUED_TO_OTHERS } from '../access-tokens.queries';
import { AccessTokensService } from '../access-tokens.service';
import type { User, UserKind, UserRow, UserState } from '../../users/user.entity';
import { BOTS } from '../../users/bot-external-flag';
import { UsersQueries } from '../../users/users.queries';
import { REFUSED_STATES, UNCONFIRMED } from './refused-states';
import { ADDRESS_IS_NEW, TokenUse, USE_IS_OUTDATED } from './token-use';

/** The newest version of the directory, with the token and its holder, whose columns are null for an unknown token. */
interface ResolvedTokenRow
  extends
    RowOf<AccessToken, 'scopes' | 'impersonation' | 'revoked'>,
    RowOf<User, 'username' | 'state' | 'kind' | 'admin' | 'external'> {
  readonly version: number;
  readonly epoch: string;
  readonly token_id: number | null;
  readonly user_id: number;
  readonly giver_id: number | null;
  /** Whether it is an impersonation token, or one that an administrator issued to a user who has not rotated it since. */
  readonly is_given_out: boolean;
  /** Whether the issuer exists, is active and confirmed, and is an administrator. */
  readonly may_give_out: boolean;
  readonly expired: boolean;
  /** Units: milliseconds since 1970. */
  readonly expires_at: number | null;
  readonly is_unused_lately: boolean;
  readonly is_from_elsewhere: boolean;
  readonly is_unconfirmed: boolean;
  /** Creator of the bot; null for humans, and if the creator was removed. */
  readonly maker_id: number | null;
  readonly maker_kind: UserKind | null;
}

/**
 * Resolves a token in one snapshot of the primary, so that the answer contains the version of every change that was
 * answered before the request. A bot is external if its creator or the issuer of its token is, also in rows of a former
 * release.
 * Source: reference reliability 4.2 (4); reference identity-and-import 4.9.
 */
const resolveTokenSql = (
  key: 'digest' | 'id',
) => `select h.version, h.epoch, t.id as token_id, t.scopes, t.impersonation, t.revoked, t.created_by_id as giver_id,
     coalesce(t.expires_on <= (statement_timestamp() at time zone 'UTC')::date, false) as expired,
     (extract(epoch from t.expires_on::timestamp at time zone 'UTC') * 1000)::bigint as expires_at,
     ${USE_IS_OUTDATED} as is_unused_lately, coalesce(${ADDRESS_IS_NEW}, false) as is_from_elsewhere,
     u.id as user_id, u.username, u.state, u.confirmed_at is null as is_unconfirmed, u.kind,
     u.external or (u.kind in ${BOTS} and (coalesce(m.external, false) or coalesce(i.external, false))) as external,
     u.admin and u.kind = 'human' as admin, m.id as maker_id, m.kind as maker_kind,
     coalesce(t.impersonation or ${ISSUED_TO_OTHERS}, false) as is_given_out,
     coalesce(i.admin and i.kind = 'human' and i.state = 'active' and i.confirmed_at is not null, false) as may_give_out
   from directory_head h
   left join access_tokens t on t.${key} = :${key}
   left join users u on u.id = t.user_id
   left join users i on i.id = t.created_by_id
   left join users m on m.id = u.created_by_id and u.kind in ${BOTS}`;
const BY_DIGEST = statement<{ digest: Buffer | null; ip: string | null }, ResolvedTokenRow>(
  'tokens-resolve',
  resolveTokenSql('digest'),
);
const BY_ID = statement<{ id: number; ip: string | null }, ResolvedTokenRow>(
  'tokens-resolve-id',
  resolveTokenSql('id'),
);
/** The first creator, up the chain from a bot, who is not a bot. Bounds: finite, since creators are older than their bots. */
const FIRST_MAKER = statement<{ bot: number }, { id: number }>(
  'tokens-first-maker',
  `with recursive above as (
     select u.id, u.kind, u.created_by_id from users u where u.id = :bot
     union all
     select u.id, u.kind, u.created_by_id from above a join users u on u.id = a.created_by_id where a.kind in ${BOTS}
   ) select a.id from above a where a.kind not in ${BOTS} or a.created_by_id is null`,
);

type SudoTarget = Omit<NonNullable<ResolveSudoAnswer['user']>, 'state'> & { readonly state: UserState | 'unconfirmed' };

/**
 * Resolves tokens for the gateway: the holder, and the directory version that decisions about them need. Confirms earlier
 * answers for services.
 */
@Injectable()
export class TokenResolution {
  constructor(
    private readonly db: Database,
    private readonly tokens: AccessTokensService,
    private readonly users: UsersQueries,
    private readonly queries: AccessTokensQueries,
    private readonly use: TokenUse,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  async resolveToken(request: ResolveTokenRequest): Promise<ResolveTokenAnswer> {
    const isDigest = request.digest !== null && /^[0-9a-f]{64}$/i.test(request.digest);
    const digest = isDigest ? Buffer.from(request.digest!, 'hex') : null;
    const ip = normalizeIpAddress(request.ip);
    const [row] = await this.db.run(BY_DIGEST, { digest, ip });
    const at = { version: row!.version, epoch: row!.epoch };
    if (request.digest === null) return { ...at, outcome: 'anonymous' };
    if (row!.token_id === null) return { ...at, outcome: 'unknown' };
    if (row!.revoked) {
      if (!request.rotating) return { ...at, outcome: 'revoked' };
      if (await this.isRotatedByRequest(row!.token_id, request.idempotency_key)) {
        const checked = await this.checkTokenAndHolder(row!, row!.token_id);
        return { ...at, ...checked, ...(checked.outcome === 'valid' ? { replays_only: true } : {}) };
      }
      await this.tokens.revokeFamilyOf(row!.token_id);
      // Resolved again: the answer then has the version in which the family is revoked, so that the gateway drops its lease.
      return this.resolveToken({ ...request, rotating: false });
    }
    const checked = await this.checkTokenAndHolder(row!, row!.token_id);
    const isUnrecorded = row!.is_unused_lately || row!.is_from_elsewhere;
    if (checked.outcome === 'valid' && isUnrecorded) this.use.recordUse(row!.token_id, ip);
    return { ...at, ...checked };
  }

  /**
   * Confirms that the claims of a signed context still hold, for requests that waited. The token and its holder are read in
   * one snapshot; the user whom an administrator acts as is read after it. Both are thus newer than the request.
   */
  async confirm(question: ConfirmCallerRequest): Promise<ConfirmCallerAnswer> {
    const [row] = await this.db.run(BY_ID, { id: question.token_id, ip: null });
    const at = { version: row!.version, epoch: row!.epoch };
    if (row!.token_id === null) return { ...at, outcome: 'unknown' };
    if (row!.revoked && question.rotating) await this.revokeReusedFamily(row!.token_id, question.idempotency_key);
    const checked = row!.revoked
      ? ({ outcome: 'revoked' } as const)
      : await this.checkTokenAndHolder(row!, row!.token_id);
    if (checked.outcome !== 'valid') return { ...at, ...checked };
    const { holder } = checked;
    const asThemselves = { ...pickRightsClaims(holder), impersonator_id: holder.impersonator_id };
    const claims = { ...pickRightsClaims(question), impersonator_id: question.impersonator_id };
    if (isDeepStrictEqual(asThemselves, claims)) return { ...at, outcome: 'holds' };
    // The holder of an impersonation token is the impersonated user, so a change of their claims does not imply sudo.
    const isSudo = question.user_id !== holder.user_id || question.impersonator_id !== holder.impersonator_id;
    const isBySame = question.impersonator_id === (holder.impersonator_id ?? holder.user_id);
    if (!isSudo || !isBySame) return { ...at, outcome: 'changed' };
    return { ...at, ...(await this.confirmSudoClaims(holder, question)) };
  }

  async resolveSudo(ref: string): Promise<ResolveSudoAnswer> {
    return this.toSudoTarget(await this.users.byIdOrUsername(ref));
  }

  /**
   * Revokes all tokens of a family after an attempt to rotate a revoked token. The request is refused before the
   * rotation runs, which would otherwise revoke them. `key` is the idempotency key of the request. Does nothing if the
   * same request, by its key, has rotated the token already.
   */
  private async revokeReusedFamily(tokenId: number, key: string | undefined): Promise<void> {
    if (!(await this.isRotatedByRequest(tokenId, key))) await this.tokens.revokeFamilyOf(tokenId);
  }

  private async isRotatedByRequest(tokenId: number, idempotencyKey: string | undefined): Promise<boolean> {
    return idempotencyKey !== undefined && (await this.queries.isRotatedBy(tokenId, idempotencyKey, this.clock.now()));
  }

  private async confirmSudoClaims(holder: TokenHolder, question: ConfirmCallerRequest) {
    if (!holder.admin) return { outcome: 'user_refused', reason: SUDO_REASONS.notAdmin } as const;
    const { user } = await this.toSudoTarget(await this.users.findUser(question.user_id));
    if (user === null || !holder.scopes.includes('sudo')) return { outcome: 'unknown' } as const;
    const { id: user_id, state, admin, external, bot } = user;
    if (state !== 'active') return { outcome: 'user_refused', reason: SUDO_REASONS[state] } as const;
    const acting = pickRightsClaims({ ...holder, user_id, admin, external, bot });
    return { outcome: isDeepStrictEqual(acting, pickRightsClaims(question)) ? 'holds' : 'changed' } as const;
  }

  private async toSudoTarget(user: UserRow | null): Promise<{ user: SudoTarget | null }> {
    if (!user) return { user: null };
    const { id, username } = user;
    const external = user.external || (isBot(user.kind) && (await this.users.isOfExternal(id)));
    const admin = user.admin && user.kind === 'human';
    const state = user.state === 'active' && user.confirmed_at === null ? 'unconfirmed' : user.state;
    return { user: { id, username, admin, external, bot: isBot(user.kind), state } };
  }

  private async checkTokenAndHolder(row: ResolvedTokenRow, tokenId: number) {
    if (row.expired) return { outcome: 'expired' } as const;
    if (row.impersonation && !this.settings.impersonationEnabled) return { outcome: 'impersonation_disabled' } as const;
    // A token that an administrator issued ends when they stop being one. Source: reference identity-and-import 4.4, 4.7.
    if (row.is_given_out && !row.may_give_out) return { outcome: 'revoked' } as const;
    if (row.state !== 'active') return { outcome: 'user_refused', reason: REFUSED_STATES[row.state] } as const;
    if (row.is_unconfirmed) return { outcome: 'user_refused', reason: UNCONFIRMED } as const;
    const { user_id, username, admin, external, scopes, expires_at, giver_id } = row;
    const holder = {
      user_id,
      username,
      admin,
      external,
      bot: isBot(row.kind),
      token_id: tokenId,
      scopes,
      impersonator_id: row.impersonation ? giver_id : null,
      given_by_id: row.is_given_out ? giver_id : null,
      maker_id: await this.findResponsibleCreator(row),
    };
    return { outcome: 'valid', holder: { ...holder, expires_at } } as const;
  }

  /** Id of the user who answers for a bot. Few bots are created by bots, so these get a separate statement. */
  private async findResponsibleCreator({ maker_id: id, maker_kind: kind }: ResolvedTokenRow): Promise<number | null> {
    if (id === null || kind === null || !isBot(kind)) return id;
    const [first] = await this.db.run(FIRST_MAKER, { bot: id });
    return first?.id ?? id;
  }
}

/** Claims of a signed context about the rights of a caller. */
type RightsClaims = Pick<TokenHolder, 'user_id' | 'admin' | 'external' | 'bot' | 'scopes'>;

function pickRightsClaims({ user_id, admin, external, bot, scopes }: RightsClaims): RightsClaims {
  return { user_id, admin, external, bot, scopes };
}

function isBot(kind: UserKind): boolean {
  return kind === 'project_bot' || kind === 'service_account';
}

/** Returns the address to store: IPv4 also if it came over an IPv6 socket. Returns null for an invalid address. */
function normalizeIpAddress(ip: string | null): string | null {
  const plain = ip?.replace(/^::ffff:(?=\d+\.)/i, '') ?? '';
  return isIP(plain) === 0 ? null : plain;
}
