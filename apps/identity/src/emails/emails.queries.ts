import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import type { SqlReader, RowOf } from '@rookery/persistence';
import { Database, ListQuery } from '@rookery/persistence';
import type { Email } from '../users/addresses/email.entity';

/** A secondary address, as the API shows it. */
export interface EmailRow extends RowOf<Email, 'id' | 'email' | 'confirmedAt'> {
  readonly changed_at: Date;
}

/** Reads of secondary addresses. Source: reference identity-and-import 10.5. */
@Injectable()
export class EmailsQueries {
  constructor(private readonly db: Database) {}

  list(userId: number, request: PageRequest): Promise<Page<EmailRow>> {
    return secondaryEmailsQuery(userId).readPage(this.db, request);
  }

  async findEmail(userId: number, id: number, reads: SqlReader = this.db): Promise<EmailRow | null> {
    const found = await secondaryEmailsQuery(userId)
      .where((bind) => `e.id = ${bind(id)}`)
      .readOne(reads);
    return found ?? null;
  }

  async hasUser(id: number): Promise<boolean> {
    const rows = await this.db.query(`select 1 from users where id = $1`, [id]);
    return rows.length === 1;
  }
}

/** Excludes the primary address and its unconfirmed successor. */
function secondaryEmailsQuery(userId: number): ListQuery<EmailRow> {
  return new ListQuery<EmailRow>({
    name: 'emails',
    from: 'emails e',
    columns: 'e.id, e.email, e.confirmed_at, greatest(e.created_at, e.confirmed_at) as changed_at',
  })
    .where('not e.is_primary and not e.becomes_primary')
    .where((bind) => `e.user_id = ${bind(userId)}`);
}
