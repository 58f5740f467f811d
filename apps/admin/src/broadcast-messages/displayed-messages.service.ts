import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { CLOCK, NotFound } from '@rookery/kernel';
import type { Clock, Page, PageRequest, Viewer } from '@rookery/kernel';
import type { Collection, ListQuery } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { FeaturesService } from '../features/features.service';
import type { BroadcastMessage } from './broadcast-message.entity';
import { broadcastMessages } from './broadcast-messages';

/** Where somebody is: the page that they look at, and the project or group that it belongs to, by id or full path. */
export interface Whereabouts {
  readonly path?: string;
  readonly project_id?: number | string;
  readonly group_id?: number | string;
}

/** What of a target counts as itself in LIKE; `*` is any run of characters. Both sides are folded. */
const PATTERN = String.raw`replace(regexp_replace(lower(row.target_path), '([\\%_])', '\\\1', 'g'), '*', '%')`;

/** The messages that a page shows to who looks at it. Source: reference packages-and-admin 7. */
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

  /** Errors: NotFound for a project or group that the viewer does not see. */
  async list(where: Whereabouts, viewer: Viewer, page: PageRequest): Promise<Page<BroadcastMessage>> {
    const [now, level] = [this.clock.now(), await this.level(where, viewer)];
    const narrow = (list: ListQuery<unknown>): void => {
      const at = list.bind(now);
      list.where(`row.starts_at <= ${at} and row.ends_at > ${at}`);
      list.where(isAt(where.path ?? '', list));
      list.where(isFor(level, list));
    };
    return this.messages.list({ page, narrow });
  }

  /** The viewer's role there, as far as messages go by it; null when it is not known. */
  private async level({ project_id, group_id }: Whereabouts, viewer: Viewer): Promise<number | null> {
    if (project_id === undefined && group_id === undefined) return null;
    const place =
      project_id === undefined
        ? await this.directory.group(group_id!, viewer)
        : await this.directory.project(project_id, viewer);
    if (!place) throw new NotFound(project_id === undefined ? 'Group' : 'Project');
    return (await this.features.isOn('role_targeted_broadcast_messages', { viewer })) ? place.level : null;
  }
}

/** A message without a path is everywhere. Shape: a path begins with `/`, said or not; a blank one is none. */
function isAt(path: string, list: ListQuery<unknown>): string {
  const everywhere = String.raw`(row.target_path is null or row.target_path !~ '\S')`;
  if (path.trim() === '') return everywhere;
  const asked = list.bind(path.startsWith('/') ? path : `/${path}`);
  return `(${everywhere} or lower(${asked}) like ${PATTERN})`;
}

function isFor(level: number | null, list: ListQuery<unknown>): string {
  const all = `row.target_access_levels = '{}'`;
  return level === null ? all : `(${all} or ${list.bind(level)} = any(row.target_access_levels))`;
}
