import { Inject, Injectable } from '@nestjs/common';
import { featureFlagCreated, featureFlagDeleted, featureFlagUpdated } from '@rookery/contracts';
import type { EventDefinition } from '@rookery/contracts';
import { CLOCK, InvalidWithSentences } from '@rookery/kernel';
import type { Clock, Page, PageRequest } from '@rookery/kernel';
import type { AllFilters, WriteContext, Collection, Tx } from '@rookery/persistence';
import { defineCollection, Database, Work } from '@rookery/persistence';
import { incrementFeatureFlagsRevision } from '../feature-flags-clients/feature-flags-clients.service';
import { planLimitOfProject } from '../plan-limits/plan-limits.service';
import { checkFeatureFlagUserXidsSize } from '../feature-flags-user-lists/user-lists.service';
import { FeatureFlag } from './feature-flag.entity';
import type { FeatureFlagFields } from './feature-flag.entity';
import { findStrategies } from './feature-flags.queries';
import type { StrategyRow } from './feature-flags.queries';
import { changeStrategies } from './flag-strategies';
import type { StrategyInput } from './flag-strategies';

export interface FeatureFlagFilters {
  readonly scope?: 'enabled' | 'disabled';
}
export interface FeatureFlagInput extends FeatureFlagFields {
  readonly strategies?: readonly StrategyInput[];
}

/** A flag with its strategies. */
export interface FeatureFlagView {
  readonly flag: FeatureFlag;
  readonly strategies: readonly StrategyRow[];
}

const FILTERS: AllFilters<FeatureFlagFilters> = {
  scope: (scope) => (scope === 'enabled' ? 'row.active' : 'not row.active'),
};

const flagEventBuilder =
  (event: EventDefinition & Pick<typeof featureFlagCreated, 'of'>) => (flag: FeatureFlag, actorId: number | null) =>
    event.of({ aggregateId: flag.id, actorId, data: { feature_flag_id: flag.id, project_id: flag.projectId } });

export const featureFlags = defineCollection<FeatureFlag, FeatureFlagFilters>(FeatureFlag, {
  within: 'projectId',
  order: { name: 'ASC' },
  filters: FILTERS,
  created: flagEventBuilder(featureFlagCreated),
  changed: flagEventBuilder(featureFlagUpdated),
  removed: flagEventBuilder(featureFlagDeleted),
  taken: { uq_feature_flags_name: () => new InvalidWithSentences(['Name has already been taken']) },
});

/** Limits per project in addition to that on flags. They are low because clients repeatedly fetch all strategies. */
const MOST = { strategies: 1000, scopes: 10_000 } as const;
const NUMBERS = `select count(distinct f.id)::int as flags, count(distinct s.id)::int as strategies, count(c.id)::int as scopes
  from feature_flags f left join feature_flag_strategies s on s.feature_flag_id = f.id
    left join feature_flag_scopes c on c.strategy_id = s.id
  where f.project_id = $1`;

/**
 * Feature flags of a project with their strategies. Each change increments the revision that clients poll. Source:
 * reference packages-and-admin 9.2.
 */
@Injectable()
export class FeatureFlagsService {
  private readonly flags: Collection<FeatureFlag, FeatureFlagFilters>;

  constructor(
    work: Work,
    private readonly database: Database,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.flags = featureFlags.on(work);
  }

  async list(projectId: number, filters: FeatureFlagFilters, page: PageRequest): Promise<Page<FeatureFlagView>> {
    const found = await this.flags.list({ within: projectId, filters, page });
    const strategies = await findStrategies(
      this.database,
      found.rows.map((flag) => flag.id),
    );
    return { ...found, rows: found.rows.map((flag) => ({ flag, strategies: strategies.get(flag.id)! })) };
  }

  /** Errors: NotFound, as in all methods with a name. */
  async show(projectId: number, name: string): Promise<FeatureFlagView> {
    return this.loadFlagView(await this.flags.find({ name }, projectId));
  }

  /**
   * Errors: InvalidWithSentences, also for a taken name and when the project exceeds a limit; NotFound for a user list of
   * another project.
   */
  async create(projectId: number, input: FeatureFlagInput, actorId: number): Promise<FeatureFlagView> {
    const { strategies = [], ...fields } = input;
    const made = FeatureFlag.create(fields, this.clock.now());
    const flag = await this.flags.create(made, createFeatureFlagWriteContext(projectId, actorId), async (row, tx) => {
      await changeStrategies(tx, row, strategies);
      await checkProjectFeatureFlagLimits(tx, projectId, {
        flags: await planLimitOfProject(tx, projectId, 'project_feature_flags'),
      });
      await checkFeatureFlagUserXidsSize(tx, projectId);
    });
    return this.loadFlagView(flag);
  }

  /** Changes the sent fields. An empty input changes nothing. Errors: as in `create`. */
  async update(projectId: number, name: string, input: FeatureFlagInput, actorId: number): Promise<FeatureFlagView> {
    const { strategies = [], ...fields } = input;
    if (strategies.length === 0 && Object.values(fields).every((value) => value === undefined)) {
      return this.show(projectId, name);
    }
    const change = async (flag: FeatureFlag, tx: Tx): Promise<void> => {
      flag.change(fields, this.clock.now());
      await changeStrategies(tx, flag, strategies);
      await checkProjectFeatureFlagLimits(tx, projectId);
      await checkFeatureFlagUserXidsSize(tx, projectId);
    };
    return this.loadFlagView(
      await this.flags.change({ name }, change, createFeatureFlagWriteContext(projectId, actorId)),
    );
  }

  /** Deletes the flag and returns its last state. */
  async remove(projectId: number, name: string, actorId: number): Promise<FeatureFlagView> {
    let strategies: readonly StrategyRow[] = [];
    const flag = await this.flags.remove(
      { name },
      createFeatureFlagWriteContext(projectId, actorId),
      async (row, tx) => {
        strategies = (await findStrategies(tx, [row.id])).get(row.id)!;
      },
    );
    return { flag, strategies };
  }

  private async loadFlagView(flag: FeatureFlag): Promise<FeatureFlagView> {
    return { flag, strategies: (await findStrategies(this.database, [flag.id])).get(flag.id)! };
  }
}

function createFeatureFlagWriteContext(projectId: number, actorId: number): WriteContext {
  return { within: projectId, actorId, before: (tx) => incrementFeatureFlagsRevision(tx, projectId) };
}

/**
 * Checks the limits of a project. Concurrent changes of a project are serialized by `incrementFeatureFlagsRevision`. `flags` is
 * given only when a flag is added, so that a project above a lowered limit can still be changed.
 */
async function checkProjectFeatureFlagLimits(
  tx: Tx,
  projectId: number,
  extraLimits: { readonly flags?: number } = {},
): Promise<void> {
  const [held] = await tx.query<Record<keyof typeof MOST | 'flags', number>>(NUMBERS, [projectId]);
  const { flags = Infinity, strategies, scopes } = { ...MOST, ...extraLimits };
  const problems = (
    [
      ['flags', 'flags', flags],
      ['strategies', 'flag strategies', strategies],
      ['scopes', 'flag scopes', scopes],
    ] as const
  )
    .filter(([counted, , most]) => held![counted] > most)
    .map(([, noun, most]) => `Maximum number of project feature ${noun} (${most}) exceeded`);
  if (problems.length > 0) throw new InvalidWithSentences(problems);
}
