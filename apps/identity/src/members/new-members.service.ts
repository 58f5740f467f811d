import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Conflict, Invalid, NotFound, PartlyRefused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { MemberRow, KnownUser } from './listing/members.queries';
import type { MemberSource } from './listing/member-source';
import { MembersQueries } from './listing/members.queries';
import type { Named } from './listing/people-named';
import { AddressRefused, MemberRules } from './member-rules';
import type { Grant } from './member-rules';
import { MembershipsService } from './memberships.service';

/** Why not, by the name of each. */
type Reasons = Record<string, string>;
const EXISTS = 'Member already exists';

/** Adding direct members. Source: reference identity-and-import 2.8. */
@Injectable()
export class NewMembersService {
  constructor(
    private readonly work: Work,
    private readonly queries: MembersQueries,
    private readonly memberships: MembershipsService,
    private readonly rules: MemberRules,
  ) {}

  /** Errors: NotFound for the user; Forbidden above the own level; Conflict for a member; Invalid; MethodNotAllowed while locked. */
  add(viewer: SignedInViewer, source: MemberSource, who: Named, grant: Grant): Promise<MemberRow> {
    return this.counted(viewer, () => this.work.run((tx) => this.addIn(tx, viewer, source, who, grant)));
  }

  /** What a refusal tells of an address is counted, though all else that was done is undone. */
  async counted<T>(viewer: SignedInViewer, add: () => Promise<T>): Promise<T> {
    try {
      return await add();
    } catch (error) {
      if (error instanceof AddressRefused) await this.rules.countDisclosures(viewer, 1);
      throw error;
    }
  }

  /** Adds those who can be added. Errors: PartlyRefused with the others, by username, or as the caller named strangers. */
  async addSeveral(
    viewer: SignedInViewer,
    source: MemberSource,
    people: readonly Named[],
    grant: Grant,
  ): Promise<void> {
    this.rules.refuseGrant(viewer, source, grant);
    let addressesRefused = 0;
    const adding = this.work.run(async (tx) => {
      addressesRefused = 0;
      await this.rules.refuseLocked(tx, source);
      const { known, refused } = await this.knownOf(tx, viewer, source, people);
      // Two requests with the same people wait for each other in one order.
      for (const user of [...known].sort((a, b) => a.id - b.id)) {
        const error = await this.refusalOf(() => this.addUser(tx, viewer, source, user.id, grant));
        if (error instanceof AddressRefused) addressesRefused += 1;
        if (error) refused[user.username] = error.message;
      }
      await this.rules.checkDisclosures(tx, viewer, addressesRefused);
      return refused;
    });
    // Also when nobody was added for that.
    const failures = await adding.finally(() => this.rules.countDisclosures(viewer, addressesRefused));
    if (Object.keys(failures).length > 0) throw new PartlyRefused(failures);
  }

  private async knownOf(
    tx: Tx,
    viewer: SignedInViewer,
    source: MemberSource,
    people: readonly Named[],
  ): Promise<{ known: KnownUser[]; refused: Reasons }> {
    const known: KnownUser[] = [];
    // Without a prototype: strangers are named by whatever the caller wrote, `__proto__` too.
    const refused = Object.create(null) as Reasons;
    for (const who of people) {
      const user = await this.queries.person(tx, viewer, source, who);
      if (user) known.push(user);
      else refused['id' in who ? String(who.id) : who.username] = 'User Not Found';
    }
    return { known, refused };
  }

  private async refusalOf(add: () => Promise<unknown>): Promise<Error | null> {
    try {
      await add();
      return null;
    } catch (error) {
      if (error instanceof Conflict || error instanceof Invalid) return error;
      throw error;
    }
  }

  /** As `add`, within a transaction of the caller. */
  async addIn(tx: Tx, viewer: SignedInViewer, source: MemberSource, who: Named, grant: Grant): Promise<MemberRow> {
    this.rules.refuseGrant(viewer, source, grant);
    await this.rules.refuseLocked(tx, source);
    const user = await this.queries.person(tx, viewer, source, who);
    if (!user) throw new NotFound('User');
    return this.addUser(tx, viewer, source, user.id, grant);
  }

  private async addUser(
    tx: Tx,
    viewer: SignedInViewer,
    source: MemberSource,
    userId: number,
    grant: Grant,
  ): Promise<MemberRow> {
    await this.rules.refuseStranger(tx, viewer, source, userId);
    await this.rules.refuseBelowInherited(tx, source, userId, grant.access_level);
    // What ran out and was not cleared away yet is no membership.
    const over = await tx.query<{ id: number }>(
      `select id from members where source_type = $1 and source_id = $2 and user_id = $3
         and expires_on <= (statement_timestamp() at time zone 'UTC')::date for update`,
      [source.type, source.id, userId],
    );
    if (over.length > 0) await this.memberships.end(tx, [over[0]!.id], 'expired', null);
    const added = {
      userId,
      source,
      level: grant.access_level,
      expiresOn: grant.expires_at ?? null,
      actorId: viewer.userId,
    };
    if ((await this.memberships.add(tx, added)) === null) throw new Conflict(EXISTS);
    // A request to be let in is settled by it.
    const column = source.type === 'project' ? 'project_id' : 'namespace_id';
    await tx.query(`delete from access_requests where ${column} = $1 and user_id = $2`, [source.id, userId]);
    // One that ends today is over at once, and is shown this once.
    return (await this.queries.one(source, userId, tx, 'even over'))!;
  }
}
