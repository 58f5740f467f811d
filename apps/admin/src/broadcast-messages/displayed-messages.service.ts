import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { CLOCK, NotFound } from '@rookery/kernel';
import type { Clock, Page, PageRequest, Viewer } from '@rookery/kernel';
import type { Collection, ListQuery } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { FeaturesService } from '../features/features.service';
import type { BroadcastMessage } from './broadcast-message.entity';
import { broadcastMessages } from './broadcast-messages';

/** The page that a user looks at, and the project or group that it belongs to, by id or full path. */
export interface PageContext {
  readonly path?: string;
  readonly project_id?: number | string;
  readonly group_id?: number | string;
}

/**
 * SQL expression that turns a target path into a LIKE pattern: escapes special characters and replaces `*` by `%`. Both
 * sides of the comparison are in lower case.
 */
const PATTERN = String.raw`replace(regexp_replace(lower(row.target_path), '([\\%_])', '\\\1', 'g'), '*', '%')`;

/** Active broadcast messages for a page and a user. Source: reference packages-and-admin 7. */
@Injectable()
export class DisplayedMessagesService {
  private readonly messages: Collection<BroadcastMessage>;

  constructor(
    work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly directory: Directory,
    private readonly features: FeaturesService,
  ) {
    this.messages = broadcastMessages.on(work);
  }

  /** Errors: NotFound for a project or group that the viewer cannot see. */
  async list(where: PageContext, viewer: Viewer, page: PageRequest): Promise<Page<BroadcastMessage>> {
    const [now, level] = [this.clock.now(), await this.findAccessLevel(where, viewer)];
    const narrow = (list: ListQuery<unknown>): void => {
      const at = list.bind(now);
      list.where(`row.starts_at <= ${at} and row.ends_at > ${at}`);
      list.where(isMessageForPathSql(where.path ?? '', list));
      list.where(isMessageForAccessLevelSql(level, list));
    };
    return this.messages.list({ page, narrow });
  }

  /**
   * Returns the viewer's access level in the project or group. Returns null if neither is given, and while the feature
   * `role_targeted_broadcast_messages` is off for the viewer.
   */
  private async findAccessLevel({ project_id, group_id }: PageContext, viewer: Viewer): Promise<number | null> {
    if (project_id === undefined && group_id === undefined) return null;
    const place =
      project_id === undefined
        ? await this.directory.findGroup(group_id!, viewer)
        : await this.directory.findProject(project_id, viewer);
    if (!place) throw new NotFound(project_id === undefined ? 'Group' : 'Project');
    return (await this.features.isOn('role_targeted_broadcast_messages', { viewer })) ? place.level : null;
  }
}

/**
 * SQL condition: the message targets this path. Messages without a target path match every page. A missing leading `/`
 * is added; a blank path counts as none.
 */
function isMessageForPathSql(path: string, list: ListQuery<unknown>): string {
  const everywhere = String.raw`(row.target_path is null or row.target_path !~ '\S')`;
  if (path.trim() === '') return everywhere;
  const asked = list.bind(path.startsWith('/') ? path : `/${path}`);
  return `(${everywhere} or lower(${asked}) like ${PATTERN})`;
}

function isMessageForAccessLevelSql(level: number | null, list: ListQuery<unknown>): string {
  const all = `row.target_access_levels = '{}'`;
  return level === null ? all : `(${all} or ${list.bind(level)} = any(row.target_access_levels))`;
}
