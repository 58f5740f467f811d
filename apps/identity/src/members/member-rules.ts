import { Inject, Injectable } from '@nestjs/common';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { groupAccessLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS, CLOCK, Forbidden, Invalid, MethodNotAllowed } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { OWN_TABLES } from '../directory/reach/reach-sql';
import { EmailConfirmationsService } from '../emails/confirming/email-confirmations.service';
import type { GroupSettings } from '../namespaces/settings/group-settings';
import { checkBotMembership } from '../users/bot-home';
import type { MemberSource } from './listing/member-source';
import { inheritedLevelProblem, mayGrantMemberLevel } from './member.policy';

/** Access level and end of a membership. */
export interface Grant {
  readonly access_level: number;
  readonly expires_at?: string | null;
}

/**
 * Rules that are checked before a user becomes a member or gets another level. Source: reference identity-and-import
 * 2.6, 2.8.
 */
@Injectable()
export class MemberRules {
  constructor(
    private readonly confirmations: EmailConfirmationsService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Errors: Forbidden for a level above the viewer's own; Invalid for an end in the past. */
  refuseGrant(viewer: SignedInViewer, source: MemberSource, grant: Grant): void {
    if (!mayGrantMemberLevel(viewer, source, grant.access_level)) throw new Forbidden();
    const isPast =
      typeof grant.expires_at === 'string' && grant.expires_at < this.clock.now().toISOString().slice(0, 10);
    if (isPast) throw new Invalid({ expires_at: ['cannot be a date in the past'] });
  }

  /** Checks that a direct level is not below the inherited one. Errors: Invalid. */
  async refuseBelowInherited(tx: Tx, source: MemberSource, userId: number, level: number): Promise<void> {
    const [highest] = await tx.query<{ access_level: number; name: string }>(
      `select m.access_level, n.name from members m join namespaces n on n.id = m.source_id
       where m.user_id = $1 and m.source_type = 'namespace' and m.source_id = any($2)
         and (m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)
       order by m.access_level desc, cardinality(n.traversal_ids) desc limit 1`,
      [userId, source.ancestorIds],
    );
    const problem = highest ? inheritedLevelProblem(level, highest) : null;
    if (problem) throw new Invalid({ access_level: [problem] });
  }

  /**
   * Checks that adding members is allowed: a group with `membership_lock` forbids it for its projects and those of all
   * groups below, also for administrators. Errors: MethodNotAllowed.
   */
  async refuseLocked(tx: Tx, source: MemberSource): Promise<void> {
    if (await this.isLocked(tx, source)) throw new MethodNotAllowed();
  }

  async isLocked(tx: Tx, source: MemberSource): Promise<boolean> {
    if (source.kind === 'group') return false;
    const groups = await readGroupSettings(tx, source.traversalIds);
    return groups.some((settings) => settings.membership_lock === true);
  }

  /**
   * Errors: Invalid for a token's bot of another group or project; EmailRefusedByGroup for an address that the top-level
   * group does not allow; TooManyRequests when the viewer has learned too much about addresses.
   */
  async checkEligibility(tx: Tx, viewer: SignedInViewer, source: MemberSource, userId: number): Promise<void> {
    await checkBotMembership(tx, userId, source);
    const [root] = await readGroupSettings(tx, source.traversalIds.slice(0, 1));
    const domains = parseEmailDomains(root?.allowed_email_domains_list ?? null);
    if (domains.length === 0) return;
    const [person] = await tx.query<{ email: string; is_confirmed: boolean }>(
      `select u.email, u.confirmed_at is not null as is_confirmed from users u
       where u.id = $1 and u.kind <> 'project_bot'
         and not exists (select 1 from service_accounts s where s.user_id = u.id and s.group_id = any($2))`,
      [userId, source.traversalIds],
    );
    if (!person) return;
    await this.checkDisclosureLimit(tx, viewer, 1);
    if (!domains.some((domain) => person.email.toLowerCase().endsWith(`@${domain}`))) {
      const domainsText = (await isGroupOwner(tx, viewer, source.traversalIds[0]!))
        ? describeEmailDomains(domains)
        : 'domains';
      throw new EmailRefusedByGroup({ user: [`email does not match the allowed ${domainsText}`] });
    }
    if (!person.is_confirmed) throw new EmailRefusedByGroup({ user: ['email is not a verified email'] });
  }

  /** Errors: TooManyRequests when so many refusals would disclose more than the limit allows. */
  async checkDisclosureLimit(tx: Tx, viewer: SignedInViewer, times: number): Promise<void> {
    if (!viewer.isAdmin && times > 0) await this.confirmations.checkDisclosureLimit(tx, viewer.userId, times);
  }

  /**
   * Counts refusals that disclose something about a hidden address. They share the limit of sent confirmation links.
   */
  countDisclosures(viewer: SignedInViewer, times: number): Promise<void> {
    if (viewer.isAdmin || times === 0) return Promise.resolve();
    return this.confirmations.countDisclosures(viewer.userId, times);
  }
}

/** The address of a user does not meet the rules of the group. */
export class EmailRefusedByGroup extends Invalid {}

async function isGroupOwner(tx: Tx, viewer: SignedInViewer, groupId: number): Promise<boolean> {
  if (viewer.isAdmin) return true;
  const level = groupAccessLevelSql({ user: '$1::bigint', namespace: 'n', tables: OWN_TABLES });
  const rows = await tx.query(`select 1 from namespaces n where n.id = $2 and ${level} >= ${ACCESS_LEVELS.owner}`, [
    viewer.userId,
    groupId,
  ]);
  return rows.length > 0;
}

/** Reads settings of groups, in no order. Personal namespaces have none. */
async function readGroupSettings(tx: Tx, namespaceIds: readonly number[]): Promise<Partial<GroupSettings>[]> {
  const rows = await tx.query<{ settings: Partial<GroupSettings> }>(
    `select settings from namespaces where id = any($1)`,
    [namespaceIds],
  );
  return rows.map((row) => row.settings);
}

/** Splits a list of domains. Returns them in lower case, without a leading `@`. */
function parseEmailDomains(list: string | null): string[] {
  const items = (list ?? '').split(',').map((item) => item.trim().replace(/^@/, '').toLowerCase());
  return items.filter((item) => item !== '');
}

function describeEmailDomains(domains: readonly string[]): string {
  return domains.length === 1 ? `domain of ${domains[0]}` : `domains: ${domains.join(', ')}`;
}
