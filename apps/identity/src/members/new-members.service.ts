import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Conflict, Invalid, NotFound, PartlyRefused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { emitAccessRequest } from './access-requests/access-request-event';
import type { MemberRow, KnownUser } from './listing/members.queries';
import type { MemberSource } from './listing/member-source';
import { MembersQueries } from './listing/members.queries';
import type { UserReference } from './listing/user-reference';
import { EmailRefusedByGroup, MemberRules } from './member-rules';
import type { Grant } from './member-rules';
import { MembershipsService } from './memberships.service';

/** Reasons of refusals, by username. */
type ReasonsByUser = Record<string, string>;
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

  /**
   * Errors: NotFound for the user; Forbidden for a level above the viewer's own; Conflict for an existing member;
   * Invalid; MethodNotAllowed while memberships are locked.
   */
  addMember(viewer: SignedInViewer, source: MemberSource, who: UserReference, grant: Grant): Promise<MemberRow> {
    return this.countingDisclosures(viewer, () =>
      this.work.run((tx) => this.addInTransaction(tx, viewer, source, who, grant)),
    );
  }

  /** Counts a refusal that discloses an address, although the transaction is rolled back. */
  async countingDisclosures<T>(viewer: SignedInViewer, add: () => Promise<T>): Promise<T> {
    try {
      return await add();
    } catch (error) {
      if (error instanceof EmailRefusedByGroup) await this.rules.countDisclosures(viewer, 1);
      throw error;
    }
  }

  /**
   * Adds all users that can be added. Errors: PartlyRefused with the reasons for the others, by username, or by the
   * sent name for unknown users.
   */
  async addSeveral(
    viewer: SignedInViewer,
    source: MemberSource,
    people: readonly UserReference[],
    grant: Grant,
  ): Promise<void> {
    this.rules.refuseGrant(viewer, source, grant);
    let addressesRefused = 0;
    const adding = this.work.run(async (tx) => {
      addressesRefused = 0;
      await this.rules.refuseLocked(tx, source);
      const { known, refused } = await this.findKnownUsers(tx, viewer, source, people);
      // Users are added in one order, so that concurrent requests with the same users cannot deadlock.
      for (const user of [...known].sort((a, b) => a.id - b.id)) {
        const error = await this.catchRefusal(() => this.addUserAsMember(tx, viewer, source, user.id, grant));
        if (error instanceof EmailRefusedByGroup) addressesRefused += 1;
        if (error) refused[user.username] = error.message;
      }
      await this.rules.checkDisclosureLimit(tx, viewer, addressesRefused);
      return refused;
    });
    // Counted also when the transaction failed.
    const failures = await adding.finally(() => this.rules.countDisclosures(viewer, addressesRefused));
    if (Object.keys(failures).length > 0) throw new PartlyRefused(failures);
  }

  private async findKnownUsers(
    tx: Tx,
    viewer: SignedInViewer,
    source: MemberSource,
    people: readonly UserReference[],
  ): Promise<{ known: KnownUser[]; refused: ReasonsByUser }> {
    const known: KnownUser[] = [];
    // Without a prototype, because keys are names from the request, for example `__proto__`.
    const refused = Object.create(null) as ReasonsByUser;
    for (const who of people) {
      const user = await this.queries.findUser(tx, viewer, source, who);
      if (user) known.push(user);
      else refused['id' in who ? String(who.id) : who.username] = 'User Not Found';
    }
    return { known, refused };
  }

  private async catchRefusal(add: () => Promise<unknown>): Promise<Error | null> {
    try {
      await add();
      return null;
    } catch (error) {
      if (error instanceof Conflict || error instanceof Invalid) return error;
      throw error;
    }
  }

  /** Same as `addMember`, within a transaction of the caller. */
  async addInTransaction(
    tx: Tx,
    viewer: SignedInViewer,
    source: MemberSource,
    who: UserReference,
    grant: Grant,
  ): Promise<MemberRow> {
    this.rules.refuseGrant(viewer, source, grant);
    await this.rules.refuseLocked(tx, source);
    const user = await this.queries.findUser(tx, viewer, source, who);
    if (!user) throw new NotFound('User');
    return this.addUserAsMember(tx, viewer, source, user.id, grant);
  }

  private async addUserAsMember(
    tx: Tx,
    viewer: SignedInViewer,
    source: MemberSource,
    userId: number,
    grant: Grant,
  ): Promise<MemberRow> {
    await this.rules.checkEligibility(tx, viewer, source, userId);
    await this.rules.refuseBelowInherited(tx, source, userId, grant.access_level);
    // An expired membership that is not deleted yet does not count.
    const over = await tx.query<{ id: number }>(
      `select id from members where source_type = $1 and source_id = $2 and user_id = $3
         and expires_on <= (statement_timestamp() at time zone 'UTC')::date for update`,
      [source.type, source.id, userId],
    );
    if (over.length > 0) await this.memberships.endMemberships(tx, [over[0]!.id], 'expired', null);
    const added = {
      userId,
      source,
      level: grant.access_level,
      expiresOn: grant.expires_at ?? null,
      actorId: viewer.userId,
    };
    if ((await this.memberships.addMember(tx, added)) === null) throw new Conflict(EXISTS);
    // Becoming a member settles an access request.
    const column = source.type === 'project' ? 'project_id' : 'namespace_id';
    const [request] = await tx.query<{ id: number; at: Date }>(
      `delete from access_requests where ${column} = $1 and user_id = $2 returning id, now() as at`,
      [source.id, userId],
    );
    if (request) {
      const accepted = { state: 'accepted', actorId: viewer.userId, at: request.at } as const;
      emitAccessRequest(tx, { id: request.id, userId }, source, accepted);
    }
    // A membership that ends today is already expired, but is returned this once.
    return (await this.queries.findMember(source, userId, tx, 'even expired'))!;
  }
}
