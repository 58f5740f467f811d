import { Injectable } from '@nestjs/common';
import { accessTokenExpiryApproached } from '@rookery/contracts';
import type { RowOf, Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { countPassedExpiryNotices } from '../token-lifetime';
import type { AccessToken } from '../access-token.entity';
import { TokenNoticeRecipients } from './token-recipients';

/** Bounds: tokens per transaction. */
const BATCH = 500;

/** SQL: the day whose notices are due. It starts at 01:00 UTC. */
const DAY = `((statement_timestamp() at time zone 'UTC') - interval '1 hour')::date`;

const DUE = `
  select t.id, t.user_id, t.expires_on, t.expires_on - ${DAY} as days_left
  from access_tokens t
  where t.expires_on is not null and not t.revoked and not t.impersonation and t.notices_sent < 4
    and (t.expires_on - case t.notices_sent when 0 then 60 when 1 then 30 when 2 then 7 else 0 end) <= ${DAY}
  order by (t.expires_on - case t.notices_sent when 0 then 60 when 1 then 30 when 2 then 7 else 0 end), t.id
  limit ${BATCH} for update of t skip locked`;

interface DueToken extends RowOf<AccessToken, 'id' | 'userId'> {
  readonly expires_on: string;
  readonly days_left: number;
}

/**
 * Sends notices once each: a token expires in 60, 30 and 7 days, and it has expired. The token stores which notices
 * were sent, in the transaction of the event, so that an interrupted process neither repeats nor loses any. Of notices
 * that become due together only the last is sent. Source: reference identity-and-import 4.5.
 */
@Injectable()
export class TokenExpiryNotices {
  constructor(
    private readonly work: Work,
    private readonly recipients: TokenNoticeRecipients,
  ) {}

  async sendNotices(): Promise<void> {
    while ((await this.work.run((tx) => this.sendNoticeBatch(tx))) === BATCH);
  }

  private async sendNoticeBatch(tx: Tx): Promise<number> {
    const due = await tx.query<DueToken>(DUE);
    if (due.length === 0) return 0;
    await tx.query(
      `update access_tokens t set notices_sent = w.passed from unnest($1::bigint[], $2::smallint[]) as w(id, passed)
       where t.id = w.id`,
      [due.map((token) => token.id), due.map((token) => countPassedExpiryNotices(token.days_left))],
    );
    const notified = due.filter((token) => token.days_left >= 0);
    const people = await this.recipients.listByToken(
      tx,
      notified.map((token) => token.id),
    );
    for (const { id, user_id, expires_on, days_left } of notified) {
      const recipient_ids = people.get(id) ?? [];
      if (recipient_ids.length === 0) continue;
      const data = { token_id: id, user_id, days_left, expires_on, recipient_ids };
      tx.emit(accessTokenExpiryApproached.of({ aggregateId: id, actorId: null, data }));
    }
    return due.length;
  }
}
