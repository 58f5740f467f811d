import { Injectable } from '@nestjs/common';
import { accessTokenRotated } from '@rookery/contracts';
import { NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { TokenRecipients } from '../token-notices/token-recipients';
import type { UserKind } from '../users/user.entity';
import type { ResourceType } from './access-token.entity';
import { AccessTokensQueries } from './access-tokens.queries';
import { scopesFor } from './token-scopes';
import type { NewTokenRow, TokenRow } from './token-row';
import { digestOf } from './token-secret';
import { TokenTerms } from './token-terms';

export interface NewToken {
  readonly userId: number;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly scopes: readonly string[];
  readonly expiresAt?: string | undefined;
  readonly impersonation: boolean;
  readonly createdBy: number | null;
  /** Whose bot holds it, and with what level; left out for people and service accounts. */
  readonly resource?: TokenResource | null;
}

/** The group or project of a bot's token. */
export interface TokenResource {
  readonly type: ResourceType;
  readonly id: number;
  readonly accessLevel: number;
}

/** Making, rotating and revoking access tokens. Source: reference identity-and-import 4.3-4.8. */
@Injectable()
export class AccessTokensService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly queries: AccessTokensQueries,
    private readonly recipients: TokenRecipients,
    private readonly terms: TokenTerms,
  ) {}

  /** Errors: NotFound for the user; Refused for one who can have none, for scopes that he may not have and for a bad day. */
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
      const expiresOn = this.terms.expiryOfNew(token.expiresAt);
      return this.insert(tx, { ...token, scopes: [...new Set(token.scopes)] }, expiresOn, null);
    });
  }

  /**
   * Replaces a token by a new one of the same kind. Reuse of a revoked token revokes what is left of its family: that
   * must stay although the call fails, so the refusal is thrown after the commit.
   */
  async rotate(id: number, expiresAt: string | undefined, actorId: number): Promise<NewTokenRow> {
    const expiresOn = this.terms.expiryOfSuccessor(expiresAt);
    const fresh = await this.work.run(async (tx) => {
      const old = await this.queries.lockedWithFamily(tx, id);
      if (!old) throw new NotFound();
      if (old.revoked) {
        await this.revokeFamily(tx, old.family_id);
        return null;
      }
      await this.markRevoked(tx, [id]);
      // Whoever made an impersonation token answers for all that descend from it.
      const createdBy = old.impersonation ? old.created_by_id : actorId;
      const resource = resourceOf(old);
      const successor: NewToken = { ...old, userId: old.user_id, expiresAt, createdBy, resource };
      const fresh = await this.insert(tx, successor, expiresOn, old);
      await this.announce(tx, old, fresh, actorId);
      return fresh;
    });
    if (!fresh) throw new Refused('Token already revoked');
    return fresh;
  }

  /** Revoking twice is no error. */
  revoke(id: number): Promise<void> {
    return this.work.run((tx) => this.markRevoked(tx, [id]));
  }

  /** A revoked token was presented to a rotation endpoint: whoever holds its successor may not be who he seems. */
  revokeFamilyOf(tokenId: number): Promise<void> {
    return this.work.run(async (tx) => {
      const token = await this.queries.lockedWithFamily(tx, tokenId);
      if (token) await this.revokeFamily(tx, token.family_id);
    });
  }

  /** Shape: `previous` is the token that it takes the place of. */
  async insert(
    tx: Tx,
    token: NewToken,
    expiresOn: string | null,
    previous: TokenRow | null,
    given?: string,
  ): Promise<NewTokenRow> {
    const secret = given ?? this.terms.secret();
    const [{ id }] = (await tx.query(
      `with next as (select nextval(pg_get_serial_sequence('access_tokens', 'id')) as id)
       insert into access_tokens (id, user_id, name, description, digest, scopes, impersonation, expires_on,
         previous_token_id, family_id, created_by_id, resource_type, resource_id, access_level, notices_sent)
       select id, $1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, id), $10, $11, $12, $13, $14 from next returning id`,
      [
        token.userId,
        token.name,
        token.description ?? null,
        digestOf(secret),
        token.scopes,
        token.impersonation,
        expiresOn,
        previous?.id ?? null,
        previous?.family_id ?? null,
        token.createdBy,
        token.resource?.type ?? null,
        token.resource?.id ?? null,
        token.resource?.accessLevel ?? null,
        this.terms.noticesBehind(expiresOn),
      ],
    )) as [{ id: number }];
    this.log.recordToken(tx, id);
    return { ...(await this.queries.one(id, tx))!, token: secret };
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

  private async revokeFamily(tx: Tx, familyId: number): Promise<void> {
    const rows = await tx.query<{ id: number }>(
      `select id from access_tokens where family_id = $1 and not revoked order by id for update`,
      [familyId],
    );
    await this.markRevoked(
      tx,
      rows.map((row) => row.id),
    );
  }

  private async markRevoked(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.query(`update access_tokens set revoked = true, updated_at = now() where id = any($1) and not revoked`, [
      ids,
    ]);
    for (const id of ids) this.log.recordToken(tx, id);
  }
}

function resourceOf({ resource_type, resource_id, access_level }: TokenRow): TokenResource | null {
  if (resource_type === null) return null;
  return { type: resource_type, id: resource_id!, accessLevel: access_level! };
}
