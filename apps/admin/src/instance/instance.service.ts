import { Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { Database, HeadWatch, prepared } from '@rookery/persistence';
import type { Head, Tx } from '@rookery/persistence';

/** All copies take whatever they are answered, so there is only one history. */
export const INSTANCE_HEAD = prepared('instance_head', `select version, '' as epoch from instance_versions`);
const NEXT = prepared(
  'instance_next',
  `update instance_versions set version = version + 1 returning version, '' as epoch`,
);
/** One statement, so that the version and what it stands for are of the same moment. */
const ANSWER = prepared(
  'instance_answer',
  `select v.version,
     (select coalesce(jsonb_object_agg(f.name, jsonb_build_object('boolean', f.is_on,
        'percentage_of_time', f.percentage_of_time, 'percentage_of_actors', f.percentage_of_actors,
        'actors', f.actors, 'groups', f.groups)), '{}') from instance_features f) as features,
     (select coalesce(jsonb_object_agg(s.name, s.value), '{}') from application_settings s) as settings
   from instance_versions v`,
);

/** What other services are told of the whole instance, and when. Source: ADR 0180. */
@Injectable()
export class InstanceService {
  private told: InstanceAnswer | null = null;

  constructor(
    private readonly database: Database,
    private readonly watch: HeadWatch,
  ) {}

  /**
   * Counts a change up, and tells those who wait once it is committed. To be called before anything else is locked,
   * since it makes those who change the instance wait for each other.
   */
  async change(tx: Tx): Promise<void> {
    const [head] = await tx.prepared<Head>(NEXT, []);
    tx.afterCommit(() => this.watch.moved(head!));
  }

  /**
   * All that is set; at once when the reader has another version, else when it changes or the wait is over. A lower
   * version is another one: after a restore of the database it is what counts. The same is told again without another
   * look at all of it, once a look at the version in the meantime has found it.
   */
  async otherThan(version: number, waitMs: number, signal: AbortSignal): Promise<InstanceAnswer> {
    const from = performance.now();
    const isCurrent = waitMs > 0 && this.watch.latest === version && this.told?.version === version;
    const told = isCurrent ? this.told! : await this.read();
    if (told.version !== version || waitMs <= 0) return told;
    const hasMoved = await this.watch.beyond({ version, epoch: '' }, waitMs, signal);
    // Nobody looks any more once the asker is gone or the process ends: what was told before stands.
    const isOver = signal.aborted || this.watch.isEnding;
    const isSame = !hasMoved && (isOver || this.watch.hasSeen(version, from));
    return isSame ? told : this.read();
  }

  private async read(): Promise<InstanceAnswer> {
    const [answer] = await this.database.prepared<InstanceAnswer>(ANSWER, []);
    this.told = answer!;
    return answer!;
  }
}
