import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { BotExternalFlagService } from '../users/bot-external-flag';
import type { ResourceType, NewTokenRow, TokenRow } from './access-token.entity';
import { AccessTokensQueries } from './access-tokens.queries';
import { digestTokenSecret, TokenTerms } from './token-terms';

export interface NewToken {
  readonly userId: number;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly scopes: readonly string[];
  readonly expiresAt?: string | undefined;
  readonly impersonation: boolean;
  readonly createdBy: number | null;
  /** Group or project of the bot with its level. Omitted for users and service accounts. */
  readonly resource?: TokenResource | null;
}

/** The group or project of a bot's token. */
export interface TokenResource {
  readonly type: ResourceType;
  readonly id: number;
  readonly accessLevel: number;
}

/** Rows of tokens with dependent data: leases of gateways, and the limits of the bot that holds the token. */
@Injectable()
export class TokenRows {
  constructor(
    private readonly log: ChangeLog,
    private readonly queries: AccessTokensQueries,
    private readonly terms: TokenTerms,
    private readonly limits: BotExternalFlagService,
  ) {}

  /** `previous` is the token that the new one replaces. */
  async insertToken(
    tx: Tx,
    token: NewToken,
    expiresOn: string | null,
    previous: TokenRow | null,
    given?: string,
  ): Promise<NewTokenRow> {
    const secret = given ?? this.terms.createSecret();
    const [{ id }] = (await tx.query(
      `with next as (select nextval(pg_get_serial_sequence('access_tokens', 'id')) as id)
       insert into access_tokens (id, user_id, name, description, digest, scopes, impersonation, expires_on,
         previous_token_id, family_id, created_by_id, resource_type, resource_id, access_level, notices_sent)
       select id, $1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, id), $10, $11, $12, $13, $14 from next returning id`,
      [
        token.userId,
        token.name,
        token.description ?? null,
        digestTokenSecret(secret),
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
    await this.limits.updateBot(tx, token.userId, token.createdBy);
    return { ...(await this.queries.findToken(id, tx))!, token: secret };
  }

  /** Revoking a revoked token changes nothing. */
  async markRevoked(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.query(`update access_tokens set revoked = true, updated_at = now() where id = any($1) and not revoked`, [
      ids,
    ]);
    for (const id of ids) this.log.recordToken(tx, id);
  }
}
