import { Inject, Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { TooManyRequests } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../../identity.config';
import { cleanNamespacePath } from './path-rules';

export interface PathCheck {
  readonly exists: boolean;
  readonly suggests: readonly string[];
}

/** Counts one more check of a user, in windows of a minute. */
const COUNT = `
  insert into namespace_checks as c (user_id, window_started_at, checks_count) values ($1, now(), 1)
  on conflict (user_id) do update set
    checks_count = case when c.window_started_at > now() - interval '1 minute' then least(c.checks_count, $2::int) + 1 else 1 end,
    window_started_at = case when c.window_started_at > now() - interval '1 minute' then c.window_started_at else now() end
  returning checks_count, ceil(extract(epoch from window_started_at + interval '1 minute' - now()))::int as wait_seconds`;

/** Finds the first number that makes a free path. $1 is the parent (0: none), $2 the beginning of the path. */
const FIRST_FREE = `
  with recursive tried (number, is_taken) as (
    select 0, true
    union all select number + 1, exists (select 1 from sibling_paths where parent_id = $1 and path = lower($2 || (number + 1)))
    from tried where is_taken)
  select number from tried where not is_taken`;

/** Checks whether the path of a new namespace is taken, and suggests a free one. Source: reference identity-and-import 3. */
@Injectable()
export class NamespacePathChecksService {
  constructor(
    private readonly db: Database,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Counts the check and answers for a namespace that the viewer can see, without a suggestion. Errors: TooManyRequests. */
  async answerForVisible(viewer: SignedInViewer, exists: boolean): Promise<PathCheck> {
    await this.countCheck(viewer);
    return { exists, suggests: [] };
  }

  /** Counts and answers a check. `parentId` is null for the top level. Errors: TooManyRequests. */
  async checkPath(viewer: SignedInViewer, path: string, parentId: number | null): Promise<PathCheck> {
    await this.countCheck(viewer);
    const taken = await this.db.query(
      `select 1 from sibling_paths where parent_id = $1 and path = lower($2) and namespace_id is not null`,
      [parentId ?? 0, path],
    );
    if (taken.length === 0) return { exists: false, suggests: [] };
    const beginning = cleanNamespacePath(path);
    const [free] = (await this.db.query(FIRST_FREE, [parentId ?? 0, beginning])) as [{ number: number }];
    return { exists: true, suggests: [`${beginning}${free.number}`] };
  }

  /** Counts the check. Checks of a bot count for the user who created it. */
  private async countCheck({ creatorId, userId }: SignedInViewer): Promise<void> {
    const limit = this.settings.rateLimits ? this.settings.namespaceChecksPerMinute : 0;
    if (limit === 0) return;
    const [counted] = (await this.db.query(COUNT, [creatorId ?? userId, limit])) as [
      { checks_count: number; wait_seconds: number },
    ];
    if (counted.checks_count <= limit) return;
    const setting = 'NAMESPACE_CHECKS_PER_MINUTE_COUNT';
    const limitFacts = { name: 'namespace_exists', most: limit, each: 'minute', setting } as const;
    throw new TooManyRequests(Math.max(1, counted.wait_seconds), limitFacts);
  }
}
