import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, prepareStatement, statement } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import { EXPIRED_CHUNK } from '../../base/noteables/expired-rows';
import type { SuspectMailAddress } from './suspect-address.entity';

/** Refusals in a row after which no e-mail is sent to an address. Source: reference reliability 2.7. */
const REFUSALS_LIMIT = 3;

/** Time after which the refusals of an address are forgotten, so that no mark lasts forever. Units: days. */
export const REFUSALS_KEPT_DAYS = 30;
const IS_FORGOTTEN = `s.refused_at < now() - interval '${REFUSALS_KEPT_DAYS} days'`;

const selectSuspects = statement<{ digests: readonly string[] }, RowOf<SuspectMailAddress, 'digest' | 'refusals'>>(
  'suspect_addresses_find',
  `select s.digest, s.refusals from suspect_addresses s where s.digest = any(:digests::text[]) and not (${IS_FORGOTTEN})`,
);
/** Returns no row if the address was refused less than an hour before: one outage of a mail server is one refusal. */
const countAddressRefusal = statement<{ digest: string }, RowOf<SuspectMailAddress, 'refusals'>>(
  'suspect_addresses_count',
  `insert into suspect_addresses as s (digest, refusals) values (:digest, 1)
   on conflict (digest) do update
     set refusals = case when ${IS_FORGOTTEN} then 1 else s.refusals + 1 end, refused_at = now()
     where s.refused_at < now() - interval '1 hour'
   returning refusals`,
);
const forgetAddress = statement<{ digest: string }, never>(
  'suspect_addresses_forget',
  'delete from suspect_addresses where digest = :digest',
);
/** Deletes a chunk of forgotten rows. `$1` is their age in days. */
export const oldSuspects = prepareStatement(
  'suspect_addresses_drop_oldest',
  `delete from suspect_addresses where digest in (
     select s.digest from suspect_addresses s where s.refused_at < now() - $1::integer * interval '1 day'
     limit ${EXPIRED_CHUNK} for update skip locked) returning 1`,
);

/** Refusal state of some addresses. */
export interface RefusedAddresses {
  /** Whether no e-mail is sent to the address. */
  isSuspect(address: string): boolean;
  /** Whether it was refused since the last accepted e-mail. */
  isKnown(address: string): boolean;
}

/**
 * Addresses to which no e-mail is sent, because mail servers refused them three times in a row, at least an hour apart.
 * The suspicion ends if a request to confirm the address is accepted, if its user chooses it, or after 30 days.
 * Source: reference reliability 2.7; docs/reference/work-tracking.md 8.5.
 */
@Injectable()
export class SuspectMailAddresses {
  constructor(private readonly database: Database) {}

  async findRefused(addresses: readonly string[]): Promise<RefusedAddresses> {
    const digests = [...new Set(addresses.map(computeAddressDigest))];
    const rows = digests.length === 0 ? [] : await this.database.run(selectSuspects, { digests });
    const refusals = new Map(rows.map((row) => [row.digest, row.refusals]));
    return {
      isSuspect: (address) => (refusals.get(computeAddressDigest(address)) ?? 0) >= REFUSALS_LIMIT,
      isKnown: (address) => refusals.has(computeAddressDigest(address)),
    };
  }

  /** Counts a refusal, at most one an hour. Returns true if this refusal made the address suspect. */
  async countRefusal(address: string): Promise<boolean> {
    const [row] = await this.database.run(countAddressRefusal, { digest: computeAddressDigest(address) });
    return row?.refusals === REFUSALS_LIMIT;
  }

  /** Forgets the refusals of an address. */
  async clearAddress(address: string): Promise<void> {
    await this.database.run(forgetAddress, { digest: computeAddressDigest(address) });
  }
}

function computeAddressDigest(address: string): string {
  return createHash('sha256').update(address.toLowerCase()).digest('hex');
}
