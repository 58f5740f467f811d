import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, SignedInViewer } from '@rookery/kernel';
import { Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { RowOf, Tx } from '@rookery/persistence';
import { Database, ListQuery, Work } from '@rookery/persistence';
import type { MemberRow } from '../listing/members.queries';
import type { MemberSource } from '../listing/member-source';
import type { AccessRequest } from '../member.entity';
import { MemberRules } from '../member-rules';
import { NewMembersService } from '../new-members.service';
import type { UserSummary } from '../../users/user.entity';
import { emitAccessRequest } from './access-request-event';

/** An access request with its user, as statements read it. */
export interface AccessRequestRow extends UserSummary, RowOf<AccessRequest, 'requestedAt'> {
  readonly request_id: number;
}

const SHOWN = `u.id, u.username, u.name, u.state, u.avatar_url, u.public_email, r.id as request_id, r.requested_at`;
const IS_OPEN = {
  namespace: `select request_access_enabled as is_open from namespaces where id = $1 for share`,
  // Users may request access unless the project disables it; archived projects accept no new members. Source: reference
  // identity-and-import 10.2.
  project: `select not archived and (settings->>'request_access_enabled') is distinct from 'false' as is_open
    from projects where id = $1 for share`,
} as const;

const accessRequestSourceColumn = (source: MemberSource): string =>
  source.type === 'project' ? 'project_id' : 'namespace_id';

/** Access requests to groups and projects. Source: reference identity-and-import 2.8. */
@Injectable()
export class AccessRequestsService {
  constructor(
    private readonly work: Work,
    private readonly db: Database,
    private readonly members: NewMembersService,
    private readonly rules: MemberRules,
  ) {}

  /** Lists access requests, oldest first. */
  list(source: MemberSource, request: PageRequest): Promise<Page<AccessRequestRow>> {
    return requestsQuery(source).readPage(this.db, request);
  }

  /**
   * Errors: Invalid for a user who has a level here or has requested already; Forbidden where requests are disabled.
   */
  create(viewer: SignedInViewer, source: MemberSource): Promise<AccessRequestRow> {
    return this.work.run(async (tx) => {
      if (source.level > 0) throw alreadyMemberRefusal();
      const [row] = await tx.query<{ is_open: boolean }>(IS_OPEN[source.type], [source.id]);
      if (!row) throw new NotFound(source.kind === 'group' ? 'Group' : 'Project');
      if (!row.is_open || viewer.isBot || (await this.rules.isLocked(tx, source))) throw new Forbidden();
      const made = await tx.query(
        `insert into access_requests (user_id, ${accessRequestSourceColumn(source)}) values ($1, $2) on conflict do nothing returning id`,
        [viewer.userId, source.id],
      );
      if (made.length === 0) throw alreadyMemberRefusal();
      const request = await this.findRequest(tx, source, viewer.userId);
      const change = { state: 'requested', actorId: viewer.userId, at: request.requested_at } as const;
      emitAccessRequest(tx, { id: request.request_id, userId: viewer.userId }, source, change);
      return request;
    });
  }

  /** Makes the requesting user a member. Errors: NotFound; those of adding a member. */
  approve(viewer: SignedInViewer, source: MemberSource, userId: number, level: number): Promise<MemberRow> {
    const approval = () =>
      this.work.run(async (tx) => {
        await this.findRequest(tx, source, userId);
        return this.members.addInTransaction(tx, viewer, source, { id: userId }, { access_level: level });
      });
    return this.members.countingDisclosures(viewer, approval);
  }

  /** Deletes a request: denied, or withdrawn by its user. Errors: NotFound. */
  remove(viewer: SignedInViewer, source: MemberSource, userId: number): Promise<void> {
    return this.work.run(async (tx) => {
      const [gone] = await tx.query<{ id: number; at: Date }>(
        `delete from access_requests where ${accessRequestSourceColumn(source)} = $1 and user_id = $2 returning id, now() as at`,
        [source.id, userId],
      );
      if (!gone) throw new NotFound();
      const state = viewer.userId === userId ? 'withdrawn' : 'denied';
      emitAccessRequest(tx, { id: gone.id, userId }, source, { state, actorId: viewer.userId, at: gone.at });
    });
  }

  private async findRequest(tx: Tx, source: MemberSource, userId: number): Promise<AccessRequestRow> {
    const row = await requestsQuery(source)
      .where((bind) => `r.user_id = ${bind(userId)}`)
      .readOne(tx, 'for update of r');
    if (!row) throw new NotFound();
    return row;
  }
}

function requestsQuery(source: MemberSource): ListQuery<AccessRequestRow> {
  return new ListQuery<AccessRequestRow>({
    name: 'access-requests',
    from: 'access_requests r',
    columns: SHOWN,
    joins: 'join users u on u.id = r.user_id',
  }).where((bind) => `r.${accessRequestSourceColumn(source)} = ${bind(source.id)}`);
}

const alreadyMemberRefusal = (): Invalid => new Invalid({ user_id: ['already exists in source'] });
