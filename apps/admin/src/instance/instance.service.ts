import { Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { Database, HeadWatch, prepareStatement } from '@rookery/persistence';
import type { LogHead, Tx } from '@rookery/persistence';

/** Copies take every answer, whatever its version, so there is only one history and no epoch. */
export const INSTANCE_HEAD = prepareStatement('instance_head', `select version, '' as epoch from instance_versions`);
const NEXT = prepareStatement(
  'instance_next',
  `update instance_versions set version = version + 1 returning version, '' as epoch`,
);
/** One statement, so that the version and its contents are of the same snapshot. */
const ANSWER = prepareStatement(
  'instance_answer',
  `select v.version,
     (select coalesce(jsonb_object_agg(f.name, jsonb_build_object('boolean', f.is_on,
        'percentage_of_time', f.percentage_of_time, 'percentage_of_actors', f.percentage_of_actors,
        'actors', f.actors, 'groups', f.groups)), '{}') from instance_features f) as features,
     (select coalesce(jsonb_object_agg(s.name, s.value), '{}') from application_settings s) as settings,
     (select coalesce(jsonb_object_agg(l.plan, l.limits), '{}') from (
        select plan, jsonb_object_agg(name, value) as limits from plan_limits group by plan) l) as plan_limits
   from instance_versions v`,
);

/** Publishes features and settings of the instance to the other services. Source: ADR 0180. */
@Injectable()
export class InstanceConfigService {
  private lastAnswer: InstanceAnswer | null = null;

  constructor(
    private readonly database: Database,
    private readonly watch: HeadWatch,
  ) {}

  /**
   * Increments the version, and wakes waiting readers after the commit. Must be called before anything else is locked:
   * it serializes changes of the instance.
   */
  async change(tx: Tx): Promise<void> {
    const [head] = await tx.prepared<LogHead>(NEXT, []);
    tx.afterCommit(() => this.watch.recordMove(head!));
  }

  /**
   * Returns all features and settings: at once when the reader has another version, else after a change or at the end
   * of the wait. A lower version also counts as another one, because a restored database is authoritative. The last
   * answer is reused without reading it again if the version was read meanwhile and has not changed.
   */
  async waitForChange(version: number, waitMs: number, signal: AbortSignal): Promise<InstanceAnswer> {
    const from = performance.now();
    const isCurrent = waitMs > 0 && this.watch.newestHead === version && this.lastAnswer?.version === version;
    const answer = isCurrent ? this.lastAnswer! : await this.readInstance();
    if (answer.version !== version || waitMs <= 0) return answer;
    const hasMoved = await this.watch.waitPast({ version, epoch: '' }, waitMs, signal);
    // After the client has gone or the shutdown began, the version is not read any more, so the last answer is reused.
    const isOver = signal.aborted || this.watch.isEnding;
    const isSame = !hasMoved && (isOver || this.watch.hasSeen(version, from));
    return isSame ? answer : this.readInstance();
  }

  private async readInstance(): Promise<InstanceAnswer> {
    const [answer] = await this.database.prepared<InstanceAnswer>(ANSWER, []);
    this.lastAnswer = answer!;
    return answer!;
  }
}
