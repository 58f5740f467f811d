import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, statement } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import type { SuspectAddress } from './suspect-address.entity';

/** Refusals in a row after which no e-mail is sent to an address. Source: reference reliability 2.7. */
const REFUSALS_LIMIT = 3;

const find = statement<{ digests: readonly string[] }, RowOf<SuspectAddress, 'digest' | 'refusals'>>(
  'suspect_addresses_find',
  'select digest, refusals from suspect_addresses where digest = any(:digests::text[])',
);
const count = statement<{ digest: string }, RowOf<SuspectAddress, 'refusals'>>(
  'suspect_addresses_count',
  `insert into suspect_addresses as s (digest, refusals) values (:digest, 1)
   on conflict (digest) do update set refusals = s.refusals + 1, refused_at = now() returning refusals`,
);
const forget = statement<{ digest: string }, never>(
  'suspect_addresses_forget',
  'delete from suspect_addresses where digest = :digest',
);

/** Addresses that mail servers refused, whose next refusal or e-mail matters. */
export interface RefusedAddresses {
  /** Whether no e-mail is sent to the address. */
  isSuspect(address: string): boolean;
  /** Whether it was refused since the last accepted e-mail. */
  isKnown(address: string): boolean;
}

/**
 * Addresses to which no e-mail is sent, because mail servers refused them three times in a row. An accepted e-mail, which
 * can only be one that asks to confirm the address, or the choice of the address by its user ends that.
 * Source: reference reliability 2.7; docs/reference/work-tracking.md 8.5.
 */
@Injectable()
export class SuspectAddresses {
  constructor(private readonly database: Database) {}

  async among(addresses: readonly string[]): Promise<RefusedAddresses> {
    const digests = [...new Set(addresses.map(digestOf))];
    const rows = digests.length === 0 ? [] : await this.database.run(find, { digests });
    const refusals = new Map(rows.map((row) => [row.digest, row.refusals]));
    return {
      isSuspect: (address) => (refusals.get(digestOf(address)) ?? 0) >= REFUSALS_LIMIT,
      isKnown: (address) => refusals.has(digestOf(address)),
    };
  }

  /** Counts a refusal. Returns whether the address is suspect by it. */
  async countRefusal(address: string): Promise<boolean> {
    const [row] = await this.database.run(count, { digest: digestOf(address) });
    return row!.refusals === REFUSALS_LIMIT;
  }

  /** Forgets the refusals of an address. */
  async clear(address: string): Promise<void> {
    await this.database.run(forget, { digest: digestOf(address) });
  }
}

function digestOf(address: string): string {
  return createHash('sha256').update(address.toLowerCase()).digest('hex');
}
