import { Injectable } from '@nestjs/common';
import { accessTokenRotated } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { TokenRecipients } from './notices/token-recipients';
import type { UserKind } from '../users/user.entity';
import type { NewTokenRow, TokenRow } from './access-token.entity';
import { AccessTokensQueries, GIVEN_OUT } from './access-tokens.queries';
import type { LockedToken } from './access-tokens.queries';
import type { NewToken, TokenResource } from './token-rows';
import { TokenRows } from './token-rows';
import { scopesFor, TokenTerms } from './token-terms';

/** Who replaces a token, and with which. */
export type Rotator = Pick<SignedInViewer, 'userId' | 'tokenId' | 'impersonatorId'>;

/** Somebody else replaced it, or does so right now. What was locked to see that is let go with it. */
class Replaced extends Refused {
  constructor() {
    super('Token already revoked');
  }
}

/** Making, rotating and revoking access tokens. Source: reference identity-and-import 4.3-4.8. */
@Injectable()
export class AccessTokensService {
  /** Families whose end is under way in this process. */
  private readonly ending = new Map<number, Promise<void>>();

  constructor(
    private readonly work: Work,
    private readonly queries: AccessTokensQueries,
    private readonly recipients: TokenRecipients,
    private readonly terms: TokenTerms,
    private readonly rows: TokenRows,
  ) {}

  /** Errors: NotFound for the user; Refused for one who can have none, for scopes they may not have and for a bad day. */
  create(token: NewToken): Promise<NewTokenRow> {
    return this.work.run(async (tx) => {
      // Nobody acts as the ghost user.
      const [holder] = await tx.query<{ admin: boolean; kind: UserKind }>(
        `select admin, kind from users where id = $1 and kind <> 'ghost'`,
        [token.userId],
      );
      if (!holder) throw new NotFound('User');
      // The bot of a group or project has the token that it was made for; a placeholder does nothing.
      if (holder.kind !== 'human' && holder.kind !== 'service_account') {
        throw new Refused('User cannot have tokens of its own');
      }
      const allowed = scopesFor(holder);
      if (!token.scopes.every((scope) => allowed.includes(scope))) {
        throw new Refused('Scopes can only contain available scopes');
      }
      const expiresOn = this.terms.expiryOfNew(token.expiresAt, holder.kind);
      return this.rows.insert(tx, { ...token, scopes: [...new Set(token.scopes)] }, expiresOn, null);
    });
  }

  /**
   * Replaces a token by a new one of the same kind. Whoever comes second is refused, and takes what is left of the
   * family with them: that must stay although the call fails, so it has a transaction of its own, after this one. Errors: NotFound;
   * Refused for a bad day, for a token that is revoked, and for one that is being replaced this very moment.
   */
  async rotate(id: number, expiresAt: string | undefined, by: Rotator): Promise<NewTokenRow> {
    const expiresOn = this.terms.expiryOfSuccessor(expiresAt);
    const rotation = this.work.run(async (tx) => {
      if (!(await this.queries.isFirstAtFamily(tx, id))) throw new Replaced();
      const old = await this.queries.locked(tx, id);
      if (!old) throw new NotFound();
      if (old.revoked) throw new Replaced();
      await this.rows.markRevoked(tx, [id]);
      const createdBy = issuerOfSuccessor(old, by);
      const resource = resourceOf(old);
      const successor: NewToken = { ...old, userId: old.user_id, expiresAt, createdBy, resource };
      const fresh = await this.rows.insert(tx, successor, expiresOn, old);
      await this.announce(tx, old, fresh, by.userId);
      return fresh;
    });
    return rotation.catch(async (error: unknown) => {
      if (error instanceof Replaced) await this.revokeFamilyOf(id);
      throw error;
    });
  }

  /** Revoking twice is no error. */
  revoke(id: number): Promise<void> {
    return this.work.run((tx) => this.rows.markRevoked(tx, [id]));
  }

  /**
   * A token was presented to a rotation that had been replaced, or was about to be: its successor may be in the wrong
   * hands. Whoever is replacing one of the family ends that first, however late they come to its rows: else nobody would
   * have a successor where one was the first. However many ask at once, one of them waits for the family and the others for that one, so that nobody
   * takes all connections away from everybody else.
   */
  async revokeFamilyOf(tokenId: number): Promise<void> {
    const familyId = await this.queries.livingFamily(tokenId);
    if (familyId === null) return;
    const known = this.ending.get(familyId);
    if (known) return known;
    const end = this.work
      .apart(async (tx) => {
        await this.queries.untilAloneAtFamily(tx, familyId);
        await this.revokeWhere(tx, 'family_id = $1', [familyId]);
      })
      .finally(() => this.ending.delete(familyId));
    this.ending.set(familyId, end);
    return end;
  }

  /** All that the user holds. */
  revokeAllOf(tx: Tx, userId: number): Promise<void> {
    return this.revokeWhere(tx, 'user_id = $1', [userId]);
  }

  /**
   * What they gave out to other people, who have not replaced it since. Bounds: at most `limit` tokens. Answers how many
   * these were.
   */
  async revokeGivenOutBy(tx: Tx, userId: number, limit: number): Promise<number> {
    const rows = await tx.query<{ id: number }>(
      `select t.id from access_tokens t join users u on u.id = t.user_id
       where t.created_by_id = $1 and not t.revoked and ${GIVEN_OUT} order by t.id limit $2 for update of t`,
      [userId, limit],
    );
    await this.rows.markRevoked(
      tx,
      rows.map((row) => row.id),
    );
    return rows.length;
  }

  /** Those of the user with this name that no user made. */
  revokeNamed(tx: Tx, userId: number, name: string): Promise<void> {
    return this.revokeWhere(tx, 'user_id = $1 and name = $2 and created_by_id is null', [userId, name]);
  }

  private async announce(tx: Tx, old: TokenRow, fresh: NewTokenRow, actorId: number): Promise<void> {
    const people = await this.recipients.of(tx, [fresh.id]);
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

function resourceOf({ resource_type, resource_id, access_level }: TokenRow): TokenResource | null {
  if (resource_type === null) return null;
  return { type: resource_type, id: resource_id!, accessLevel: access_level! };
}

/**
 * Who answers for the successor: whoever really asked for it, and so saw its secret. Of an impersonation token that
 * replaces itself it is nobody new; of a bot that does so neither, since its group answers for it by those who made it.
 */
function issuerOfSuccessor(old: LockedToken, by: Rotator): number | null {
  const actor = by.impersonatorId ?? by.userId;
  if (old.impersonation) return by.tokenId === old.id ? old.created_by_id : actor;
  if (old.holder_kind === 'human') return actor;
  return by.userId === old.user_id ? (old.created_by_id ?? by.userId) : by.userId;
}
