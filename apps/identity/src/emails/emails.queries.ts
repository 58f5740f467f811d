import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';

/** An address beside the primary one, as the API shows it. */
export interface EmailRow {
  readonly id: number;
  readonly email: string;
  readonly confirmed_at: Date | null;
  readonly changed_at: Date;
}

const SHOWN = `e.id, e.email, e.confirmed_at, greatest(e.created_at, e.confirmed_at) as changed_at`;
/** What stands for the account itself is no address beside it. */
const BESIDE = 'not e.is_primary and not e.becomes_primary';

/** Reads of the addresses that people have beside their primary one. Source: ADR 0131. */
@Injectable()
export class EmailsQueries {
  constructor(private readonly db: Database) {}

  page(userId: number, request: PageRequest): Promise<Page<EmailRow>> {
    const statement = new ListStatement().where(BESIDE);
    statement.where(`e.user_id = ${statement.bind(userId)}`);
    return statement.page<EmailRow>(
      this.db,
      {
        name: 'emails',
        from: 'emails e',
        key: 'e.id',
        order: 'e.id asc',
        show: (ids) => `select ${SHOWN} from (${ids}) cut join emails e on e.id = cut.id order by cut.position`,
      },
      request,
    );
  }

  async one(userId: number, id: number, runner: Pick<Tx, 'query'> = this.db): Promise<EmailRow | null> {
    const rows = await runner.query<EmailRow>(
      `select ${SHOWN} from emails e where e.id = $1 and e.user_id = $2 and ${BESIDE}`,
      [id, userId],
    );
    return rows[0] ?? null;
  }

  async hasUser(id: number): Promise<boolean> {
    const rows = await this.db.query(`select 1 from users where id = $1`, [id]);
    return rows.length === 1;
  }
}
