import type { TokenHolder } from '@rookery/contracts';
import type { DirectoryMark } from '../request/caller';

export interface Lease {
  readonly holder: TokenHolder;
  readonly mark: DirectoryMark;
  /** Epoch milliseconds. */
  readonly until: number;
}

/**
 * Results of token checks that may be reused, by digest. Bounded: the longest unrenewed is dropped first. They are
 * dropped by token or user when identity reports a change.
 * Source: ADR 0050.
 */
export class TokenLeases {
  private readonly leases = new Map<string, Lease>();
  private readonly byToken = new Map<number, string>();
  private readonly byUser = new Map<number, Set<string>>();

  constructor(private readonly capacity: number) {}

  get size(): number {
    return this.leases.size;
  }

  findLease(digest: string): Lease | undefined {
    return this.leases.get(digest);
  }

  keepLease(digest: string, lease: Lease): void {
    this.dropLease(digest);
    if (this.leases.size >= this.capacity) this.dropLease(this.leases.keys().next().value as string);
    this.leases.set(digest, lease);
    if (lease.holder.token_id !== null) this.byToken.set(lease.holder.token_id, digest);
    for (const id of userIdsBehindToken(lease.holder)) {
      const digests = this.byUser.get(id);
      if (digests) digests.add(digest);
      else this.byUser.set(id, new Set([digest]));
    }
  }

  dropLease(digest: string): void {
    const lease = this.leases.get(digest);
    if (!lease) return;
    this.leases.delete(digest);
    if (lease.holder.token_id !== null) this.byToken.delete(lease.holder.token_id);
    for (const id of userIdsBehindToken(lease.holder)) {
      const digests = this.byUser.get(id);
      digests?.delete(digest);
      if (digests?.size === 0) this.byUser.delete(id);
    }
  }

  dropToken(id: number): void {
    const digest = this.byToken.get(id);
    if (digest !== undefined) this.dropLease(digest);
  }

  dropUser(id: number): void {
    for (const digest of [...(this.byUser.get(id) ?? [])]) this.dropLease(digest);
  }

  clear(): void {
    this.leases.clear();
    this.byToken.clear();
    this.byUser.clear();
  }
}

function userIdsBehindToken(holder: TokenHolder): readonly number[] {
  const giver = holder.given_by_id ?? holder.impersonator_id;
  return giver === null ? [holder.user_id] : [holder.user_id, giver];
}
