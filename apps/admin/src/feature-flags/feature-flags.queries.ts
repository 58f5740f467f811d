import { prepareStatement } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';

/** A strategy as the API shows it. */
export interface StrategyRow {
  readonly id: number;
  readonly feature_flag_id: number;
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly scopes: readonly { readonly id: number; readonly environment_scope: string }[];
  readonly user_list: {
    readonly id: number;
    readonly iid: number;
    readonly name: string;
    readonly user_xids: string;
  } | null;
}

const STRATEGIES = prepareStatement(
  'feature_flag_strategies_shown',
  `select s.id, s.feature_flag_id, s.name, s.parameters,
     (select coalesce(json_agg(json_build_object('id', c.id, 'environment_scope', c.environment_scope) order by c.id), '[]')
      from feature_flag_scopes c where c.strategy_id = s.id) as scopes,
     case when l.id is not null then
       json_build_object('id', l.id, 'iid', l.iid, 'name', l.name, 'user_xids', l.user_xids) end as user_list
   from feature_flag_strategies s left join feature_flags_user_lists l on l.id = s.user_list_id
   where s.feature_flag_id = any($1::bigint[]) order by s.feature_flag_id, s.id`,
);

/** Returns the strategies of flags, by flag id. */
export async function findStrategies(
  reads: SqlReader,
  flagIds: readonly number[],
): Promise<ReadonlyMap<number, readonly StrategyRow[]>> {
  const byFlag = new Map<number, StrategyRow[]>(flagIds.map((id) => [id, []]));
  const rows = flagIds.length === 0 ? [] : await reads.run<StrategyRow>({ ...STRATEGIES, values: [flagIds] });
  for (const row of rows) byFlag.get(row.feature_flag_id)!.push(row);
  return byFlag;
}

/** A strategy with its flag, as clients receive it. */
export interface ClientStrategyRow {
  readonly flag: string;
  readonly description: string | null;
  readonly active: boolean;
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly user_xids: string | null;
  readonly scopes: readonly string[];
}

const FOR_CLIENTS = prepareStatement(
  'feature_flag_strategies_for_clients',
  `select f.name as flag, f.description, f.active, s.name, s.parameters, l.user_xids,
     array(select c.environment_scope from feature_flag_scopes c where c.strategy_id = s.id) as scopes
   from feature_flags f join feature_flag_strategies s on s.feature_flag_id = f.id
     left join feature_flags_user_lists l on l.id = s.user_list_id
   where f.project_id = $1 order by f.id, s.id`,
);

/** Returns all strategies of a project. Bounds: 1000 strategies with 10,000 scopes, and 16 MiB of users. */
export function findStrategiesForUnleashClients(
  reads: SqlReader,
  projectId: number,
): Promise<readonly ClientStrategyRow[]> {
  return reads.run<ClientStrategyRow>({ ...FOR_CLIENTS, values: [projectId] });
}
