import { Injectable } from '@nestjs/common';
import { NotFound, offsetOf } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { License } from './license.entity';

export interface LicenseView {
  readonly license: License;
  readonly activeUsers: number;
}

const ID = 1;
/** Bots and users who are not allowed to sign in do not count. */
const ACTIVE = `select count(*)::int as people from directory_users where kind = 'human' and state = 'active'`;

/**
 * The licence that every instance has, so that tools know which features they may use. Source: reference
 * packages-and-admin 10.4.
 */
@Injectable()
export class LicensesService {
  constructor(private readonly work: Work) {}

  /** Errors: NotFound for any id but that of the single licence. */
  async show(id = ID): Promise<LicenseView> {
    if (id !== ID) throw new NotFound();
    return this.work.run(async (tx) => {
      const [active] = await tx.query<{ people: number }>(ACTIVE);
      const license = await tx.manager.findOneByOrFail(License, { id });
      if (active!.people > license.historicalMax) {
        license.historicalMax = active!.people;
        await tx.query('update licenses set historical_max = greatest(historical_max, $1)', [active!.people]);
      }
      return { license, activeUsers: active!.people };
    });
  }

  async list(page: PageRequest): Promise<Page<LicenseView>> {
    const rows = offsetOf(page) === 0 ? [await this.show()] : [];
    return { rows, total: 1, hasNext: false };
  }
}
