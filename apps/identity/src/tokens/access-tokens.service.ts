import { Injectable } from '@nestjs/common';
import { accessTokenCreated, accessTokenRotated } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { TokenNoticeRecipients } from './notices/token-recipients';
import type { UserKind } from '../users/user.entity';
import type { NewTokenRow, TokenRow } from './access-token.entity';
import { AccessTokensQueries, ISSUED_TO_OTHERS } from './access-tokens.queries';
import type { LockedToken } from './access-tokens.queries';
import type { NewToken, TokenResource } from './token-rows';
import { TokenRows } from './token-rows';
import { listAllowedTokenScopes, TokenTerms } from './token-terms';

/** The caller of a rotation: the user, the present token, and the impersonator. */
export type Rotator = Pick<SignedInViewer, 'userId' | 'tokenId' | 'impersonatorId'>;

/** The token was replaced, or a concurrent rotation is replacing it. Throwing it rolls back and releases the locks. */
class TokenReplaced extends Refused {
  constructor() {
    super('Token already revoked');
  }
}

/** Creation, rotation and revocation of access tokens. Source: reference identity-and-import 4.3-4.8. */
@Injectable()
export class AccessTokensService {
  /** Families that this process is revoking. */
  private readonly ending = new Map<number, Promise<void>>();

  constructor(
    private readonly work: Work,
    private readonly queries: AccessTokensQueries,
    private readonly recipients: TokenNoticeRecipients,
    private readonly terms: TokenTerms,
    private readonly rows: TokenRows,
  ) {}

  /**
   * Errors: NotFound for the user; Refused for a user who cannot have tokens, for scopes that the user may not have,
   * and for an invalid day.
   */
  create(token: NewToken): Promise<NewTokenRow> {
    return this.work.run(async (tx) => {
      // The ghost user cannot have tokens.
      const [holder] = await tx.query<{ admin: boolean; kind: UserKind }>(
        `select admin, kind from users where id = $1 and kind <> 'ghost'`,
        [token.userId],
      );
      if (!holder) throw new NotFound('User');
      // A bot of a group or project keeps the token that it was created for; placeholders cannot act.
      if (holder.kind !== 'human' && holder.kind !== 'service_account') {
        throw new Refused('User cannot have tokens of its own');
      }
      const allowed = listAllowedTokenScopes(holder);
      if (!token.scopes.every((scope) => allowed.includes(scope))) {
        throw new Refused('Scopes can only contain available scopes');
      }
      const expiresOn = this.terms.expiryOfNew(token.expiresAt, holder.kind);
      const fresh = await this.rows.insertToken(tx, { ...token, scopes: [...new Set(token.scopes)] }, expiresOn, null);
      // Tokens of the set-up have no creator, and their users need no notice.
      if (holder.kind === 'human' && !token.impersonation && token.createdBy !== null)
        await this.announceNewToken(tx, fresh, token.createdBy);
      return fresh;
    });
  }

  /**
   * Replaces a token by a new one of the same kind. A second rotation of the same token is refused, and the rest of the
   * family is revoked. That must be kept although the request fails, so it has its own transaction after this one.
   * Errors: NotFound; Refused for an invalid day, a revoked token, and one that a concurrent request is replacing.
   */
  async rotateToken(id: number, expiresAt: string | undefined, by: Rotator): Promise<NewTokenRow> {
    const expiresOn = this.terms.expiryOfSuccessor(expiresAt);
    const rotation = this.work.run(async (tx) => {
      if (!(await this.queries.tryLockFamily(tx, id))) throw new TokenReplaced();
      const old = await this.queries.lockToken(tx, id);
      if (!old) throw new NotFound();
      if (old.revoked) throw new TokenReplaced();
      await this.rows.markRevoked(tx, [id]);
      const createdBy = chooseSuccessorIssuer(old, by);
      const resource = toTokenResource(old);
      const successor: NewToken = { ...old, userId: old.user_id, expiresAt, createdBy, resource };
      const fresh = await this.rows.insertToken(tx, successor, expiresOn, old);
      await this.announceTokenRotation(tx, old, fresh, by.userId);
      return fresh;
    });
    return rotation.catch(async (error: unknown) => {
      if (error instanceof TokenReplaced) await this.revokeFamilyOf(id);
      throw error;
    });
  }

  /** Revoking a revoked token is not an error. */
  revokeToken(id: number): Promise<void> {
    return this.work.run((tx) => this.rows.markRevoked(tx, [id]));
  }

  /**
   * Revokes the family of a token, because a replaced token was presented for rotation and its successor may be in the
   * wrong hands. A concurrent rotation in the family finishes first, even if it reaches its rows later: otherwise none of
   * several concurrent rotations would succeed. Of concurrent calls one waits for the lock on the family and the others
   * wait for that one in memory, so that they do not use up all connections.
   */
  async revokeFamilyOf(tokenId: number): Promise<void> {
    const familyId = await this.queries.activeFamilyId(tokenId);
    if (familyId === null) return;
    const known = this.ending.get(familyId);
    if (known) return known;
    const end = this.work
      .runIndependent(async (tx) => {
        await this.queries.lockFamily(tx, familyId);
        await this.revokeWhere(tx, 'family_id = $1', [familyId]);
      })
      .finally(() => this.ending.delete(familyId));
    this.ending.set(familyId, end);
    return end;
  }

  /** Revokes all tokens of a user. */
  revokeAllOf(tx: Tx, userId: number): Promise<void> {
    return this.revokeWhere(tx, 'user_id = $1', [userId]);
  }

  /**
   * Revokes tokens that the user issued to other users and that were not rotated since. Returns the number of revoked
   * tokens. Bounds: at most `limit` tokens.
   */
  async revokeIssuedBy(tx: Tx, userId: number, limit: number): Promise<number> {
    const rows = await tx.query<{ id: number }>(
      `select t.id from access_tokens t join users u on u.id = t.user_id
       where t.created_by_id = $1 and not t.revoked and ${ISSUED_TO_OTHERS} order by t.id limit $2 for update of t`,
      [userId, limit],
    );
    await this.rows.markRevoked(
      tx,
      rows.map((row) => row.id),
    );
    return rows.length;
  }

  /** Revokes tokens of the user with this name that no user created. */
  revokeNamed(tx: Tx, userId: number, name: string): Promise<void> {
    return this.revokeWhere(tx, 'user_id = $1 and name = $2 and created_by_id is null', [userId, name]);
  }

  private async announceNewToken(tx: Tx, { id, user_id, created_at }: NewTokenRow, actorId: number): Promise<void> {
    const people = await this.recipients.listByToken(tx, [id]);
    const recipient_ids = people.get(id) ?? [];
    const data = { token_id: id, user_id, created_at: created_at.toISOString(), recipient_ids };
    tx.emit(accessTokenCreated.of({ aggregateId: id, actorId, data }));
  }

  private async announceTokenRotation(tx: Tx, old: TokenRow, fresh: NewTokenRow, actorId: number): Promise<void> {
    const people = await this.recipients.listByToken(tx, [fresh.id]);
    const data = {
      token_id: fresh.id,
      previous_token_id: old.id,
      user_id: fresh.user_id,
      rotated_at: fresh.created_at.toISOString(),
      recipient_ids: people.get(fresh.id) ?? [],
    };
    tx.emit(accessTokenRotated.of({ aggregateId: fresh.id, actorId, data }));
  }

  private async revokeWhere(tx: Tx, condition: string, values: readonly unknown[]): Promise<void> {
    const rows = await tx.query<{ id: number }>(
      `select id from access_tokens where ${condition} and not revoked order by id for update`,
      values,
    );
    await this.rows.markRevoked(
      tx,
      rows.map((row) => row.id),
    );
  }
}

function toTokenResource({ resource_type, resource_id, access_level }: TokenRow): TokenResource | null {
  if (resource_type === null) return null;
  return { type: resource_type, id: resource_id!, accessLevel: access_level! };
}

/**
 * Returns the issuer of the successor: the user who really made the request, and so saw its secret. An impersonation
 * token that rotates itself keeps its issuer; so does a bot's token, because the users who created it remain
 * responsible.
 */
function chooseSuccessorIssuer(old: LockedToken, rotator: Rotator): number | null {
  const actor = rotator.impersonatorId ?? rotator.userId;
  if (old.impersonation) return rotator.tokenId === old.id ? old.created_by_id : actor;
  if (old.holder_kind === 'human') return actor;
  return rotator.userId === old.user_id ? (old.created_by_id ?? rotator.userId) : rotator.userId;
}
