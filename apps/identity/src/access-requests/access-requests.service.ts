import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, SignedInViewer } from '@rookery/kernel';
import { Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Database, Work } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import type { MemberRow } from '../member-lists/member-row';
import type { MemberSource } from '../member-lists/member-source';
import { MembersService } from '../members/members.service';
import { PROJECT_DEFAULTS } from '../projects/project-settings';
import type { AccessRequestRow } from './access-request-row';

const SHOWN = `u.id, u.username, u.name, u.state, u.avatar_url, u.public_email, r.id as request_id, r.requested_at`;
const IS_OPEN = {
  namespace: `select request_access_enabled as is_open from namespaces where id = $1 for share`,
  // An archived project lets nobody in who is not there. Source: ADR 0117.
  project: `select not archived and coalesce((settings->>'request_access_enabled')::boolean, ${PROJECT_DEFAULTS.request_access_enabled})
    as is_open from projects where id = $1 for share`,
} as const;

const columnOf = (source: MemberSource): string => (source.type === 'project' ? 'project_id' : 'namespace_id');

/** Asking to be let into a group or project, and the answers. Source: reference identity-and-import 2.8; ADR 0140. */
@Injectable()
export class AccessRequests {
  constructor(
    private readonly work: Work,
    private readonly db: Database,
    private readonly members: MembersService,
  ) {}

  /** Those who ask, in the order in which they did. */
  page(source: MemberSource, request: PageRequest): Promise<Page<AccessRequestRow>> {
    const statement = new ListStatement();
    statement.where(`r.${columnOf(source)} = ${statement.bind(source.id)}`);
    const show = (ids: string) =>
      `select ${SHOWN} from (${ids}) cut join access_requests r on r.id = cut.id join users u on u.id = r.user_id
       order by cut.position`;
    const list = { name: 'access-requests', from: 'access_requests r', key: 'r.id', order: 'r.id', show };
    return statement.page<AccessRequestRow>(this.db, list, request);
  }

  /** Errors: Invalid for somebody who has a level here or asked already; Forbidden where nobody may ask. */
  ask(viewer: SignedInViewer, source: MemberSource): Promise<AccessRequestRow> {
    return this.work.run(async (tx) => {
      if (source.level > 0) throw alreadyThere();
      const [row] = await tx.query<{ is_open: boolean }>(IS_OPEN[source.type], [source.id]);
      if (!row) throw new NotFound(source.kind === 'group' ? 'Group' : 'Project');
      if (!row.is_open || viewer.isBot) throw new Forbidden();
      const made = await tx.query(
        `insert into access_requests (user_id, ${columnOf(source)}) values ($1, $2) on conflict do nothing returning id`,
        [viewer.userId, source.id],
      );
      if (made.length === 0) throw alreadyThere();
      return this.one(tx, source, viewer.userId);
    });
  }

  /** Makes the one who asked a member. Errors: NotFound; those of adding a member. */
  approve(viewer: SignedInViewer, source: MemberSource, userId: number, level: number): Promise<MemberRow> {
    return this.work.run(async (tx) => {
      await this.one(tx, source, userId);
      return this.members.addIn(tx, viewer, source, { id: userId }, { access_level: level });
    });
  }

  /** Denied, or withdrawn by who asked. Errors: NotFound. */
  drop(source: MemberSource, userId: number): Promise<void> {
    return this.work.run(async (tx) => {
      const gone = await tx.query(
        `delete from access_requests where ${columnOf(source)} = $1 and user_id = $2 returning id`,
        [source.id, userId],
      );
      if (gone.length === 0) throw new NotFound();
    });
  }

  private async one(tx: Tx, source: MemberSource, userId: number): Promise<AccessRequestRow> {
    const [row] = await tx.query<AccessRequestRow>(
      `select ${SHOWN} from access_requests r join users u on u.id = r.user_id
       where r.${columnOf(source)} = $1 and r.user_id = $2 for update of r`,
      [source.id, userId],
    );
    if (!row) throw new NotFound();
    return row;
  }
}

const alreadyThere = (): Invalid => new Invalid({ user_id: ['already exists in source'] });
