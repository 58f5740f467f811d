import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK, NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { ChangeLog } from '../directory/change-log';
import { identitySettings } from '../identity.config';
import { AccessTokensQueries } from './access-tokens.queries';
import { expiryDay, ROTATED_LIFETIME_DAYS } from './token-lifetime';
import { scopesFor } from './token-scopes';
import type { NewTokenRow, TokenRow } from './token-row';
import { digestOf, newSecret } from './token-secret';

export interface NewToken {
  readonly userId: number;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly scopes: readonly string[];
  readonly expiresAt?: string | undefined;
  readonly impersonation: boolean;
  readonly createdBy: number | null;
}

/** Making, rotating and revoking access tokens. Source: reference identity-and-import 4.3-4.8. */
@Injectable()
export class AccessTokensService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly queries: AccessTokensQueries,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Errors: NotFound for the user; Refused for scopes that he may not have and for a bad day. */
  create(token: NewToken): Promise<NewTokenRow> {
    return this.work.run(async (tx) => {
      const [holder] = await tx.query<{ admin: boolean }>(`select admin from users where id = $1`, [token.userId]);
      if (!holder) throw new NotFound('User');
      const allowed = scopesFor(holder);
      if (!token.scopes.every((scope) => allowed.includes(scope))) {
        throw new Refused('Scopes can only contain available scopes');
      }
      const expiresOn = this.expiry(token.expiresAt, this.settings.tokenMaxLifetimeDays);
      return this.insert(tx, { ...token, scopes: [...new Set(token.scopes)] }, expiresOn, null);
    });
  }

  /**
   * Replaces a token by a new one of the same kind. Reuse of a revoked token revokes what is left of its family: that
   * must stay although the call fails, so the refusal is thrown after the commit.
   */
  async rotate(id: number, expiresAt: string | undefined, actorId: number): Promise<NewTokenRow> {
    const expiresOn = this.expiry(expiresAt, ROTATED_LIFETIME_DAYS);
    const fresh = await this.work.run(async (tx) => {
      const old = await this.queries.locked(tx, id);
      if (!old) throw new NotFound();
      if (old.revoked) {
        await this.revokeFamily(tx, old.family_id);
        return null;
      }
      await this.markRevoked(tx, [id]);
      // Whoever made an impersonation token answers for all that descend from it.
      const createdBy = old.impersonation ? old.created_by_id : actorId;
      const successor: NewToken = { ...old, userId: old.user_id, expiresAt, createdBy };
      return this.insert(tx, successor, expiresOn, old);
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
      const token = await this.queries.locked(tx, tokenId);
      if (token) await this.revokeFamily(tx, token.family_id);
    });
  }

  async insert(
    tx: Tx,
    token: NewToken,
    expiresOn: string | null,
    previous: TokenRow | null,
    given?: string,
  ): Promise<NewTokenRow> {
    const secret = given ?? newSecret(this.settings.tokenPrefix);
    const [{ id }] = (await tx.query(
      `with next as (select nextval(pg_get_serial_sequence('access_tokens', 'id')) as id)
       insert into access_tokens (id, user_id, name, description, digest, scopes, impersonation, expires_on,
         previous_token_id, family_id, created_by_id)
       select id, $1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, id), $10 from next returning id`,
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
      ],
    )) as [{ id: number }];
    this.log.recordToken(tx, id);
    return { ...(await this.queries.one(id, tx))!, token: secret };
  }

  private async revokeFamily(tx: Tx, familyId: number): Promise<void> {
    const rows = await tx.query<{ id: number }>(
      `select id from access_tokens where family_id = $1 and not revoked for update`,
      [familyId],
    );
    await this.markRevoked(
      tx,
      rows.map((row) => row.id),
    );
  }

  private async markRevoked(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.query(`update access_tokens set revoked = true, updated_at = now() where id = any($1)`, [ids]);
    for (const id of ids) this.log.recordToken(tx, id);
  }

  private expiry(requested: string | undefined, defaultDays: number): string {
    return expiryDay(requested, { now: this.clock.now(), maxDays: this.settings.tokenMaxLifetimeDays, defaultDays });
  }
}
