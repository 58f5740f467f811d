import { InvalidWithSentences, NotFound } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { FeatureFlagScope, FeatureFlagStrategy } from './feature-flag-strategy.entity';
import { findStrategyCountProblems, findEnvironmentScopeProblems, findFlagStrategyProblems } from './strategy-rules';

/** Fields of a scope: an existing one with its id, or a new one without. */
export interface ScopeInput {
  readonly id?: number;
  readonly environment_scope?: string;
  readonly _destroy?: boolean;
}

/**
 * Fields of a strategy: an existing one with its id, or a new one without. `parameters` may be JSON text, because forms
 * cannot send hashes.
 */
export interface StrategyInput {
  readonly id?: number;
  readonly name?: string;
  readonly parameters?: unknown;
  readonly user_list_id?: number | null;
  readonly scopes?: readonly ScopeInput[];
  readonly _destroy?: boolean;
}

interface StrategyState {
  readonly strategy: FeatureFlagStrategy;
  scopes: FeatureFlagScope[];
  /** False for parameters that are not a hash. */
  isReadable: boolean;
}

const LIST = prepareStatement(
  'feature_flag_strategies_list',
  'select 1 from feature_flags_user_lists where id = $1 and project_id = $2 for key share',
);

/**
 * Applies the sent strategies to a flag: those with an id are changed or deleted, others are created. Errors: NotFound
 * for an id of another flag, or a list of another project; InvalidWithSentences with all problems.
 */
export async function changeStrategies(
  tx: Tx,
  flag: { readonly id: number; readonly projectId: number },
  inputs: readonly StrategyInput[],
): Promise<void> {
  const held = await loadStrategies(tx, flag.id);
  const changed: StrategyState[] = [];
  const gone: number[] = [];
  for (const input of inputs) {
    const one = input.id === undefined ? createStrategyState(flag.id) : held.get(input.id);
    if (!one) throw new NotFound();
    if (input._destroy === true) {
      if (input.id !== undefined) gone.push(input.id);
      continue;
    }
    await applyStrategyInput(tx, one, input, flag.projectId);
    if (!changed.includes(one)) changed.push(one);
  }
  for (const id of gone) held.delete(id);
  checkFlagStrategies(
    [...new Set([...held.values(), ...changed])].filter(({ strategy }) => !gone.includes(strategy.id)),
  );
  if (gone.length > 0) await tx.manager.delete(FeatureFlagStrategy, gone);
  await writeFlagStrategies(
    tx,
    changed.filter(({ strategy }) => !gone.includes(strategy.id)),
  );
}

async function loadStrategies(tx: Tx, flagId: number): Promise<Map<number, StrategyState>> {
  const strategies = await tx.manager.find(FeatureFlagStrategy, {
    where: { featureFlagId: flagId },
    order: { id: 'ASC' },
  });
  const held = new Map(
    strategies.map((strategy): [number, StrategyState] => [strategy.id, { strategy, scopes: [], isReadable: true }]),
  );
  const scopes = await tx.manager
    .createQueryBuilder(FeatureFlagScope, 'scope')
    .where('scope.strategyId = any(:ids)', { ids: [...held.keys()] })
    .orderBy('scope.id')
    .getMany();
  for (const scope of scopes) held.get(scope.strategyId)!.scopes.push(scope);
  return held;
}

function createStrategyState(flagId: number): StrategyState {
  const strategy = new FeatureFlagStrategy();
  Object.assign(strategy, { featureFlagId: flagId, name: '', parameters: {}, userListId: null });
  return { strategy, scopes: [], isReadable: true };
}

async function applyStrategyInput(
  tx: Tx,
  state: StrategyState,
  input: StrategyInput,
  projectId: number,
): Promise<void> {
  const { user_list_id: listId } = input;
  if (typeof listId === 'number' && (await tx.prepared(LIST, [listId, projectId])).length === 0) {
    throw new NotFound('Not Found', { verbatim: true });
  }
  const parameters = input.parameters === undefined ? undefined : parseObjectOrJsonObject(input.parameters);
  if (parameters === null) state.isReadable = false;
  state.strategy.change({
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(parameters ? { parameters } : {}),
    ...(listId === undefined ? {} : { userListId: listId }),
  });
  for (const scope of input.scopes ?? []) applyEnvironmentScopeInput(state, scope);
}

function applyEnvironmentScopeInput(state: StrategyState, input: ScopeInput): void {
  const known = input.id === undefined ? undefined : state.scopes.find((scope) => scope.id === input.id);
  if (input.id !== undefined && !known) throw new NotFound();
  if (input._destroy === true) {
    state.scopes = state.scopes.filter((scope) => scope !== known);
    return;
  }
  const scope = known ?? new FeatureFlagScope();
  scope.environmentScope = input.environment_scope ?? scope.environmentScope ?? '';
  if (!known) state.scopes.push(scope);
}

/** Returns null for a value that is not a hash. */
function parseObjectOrJsonObject(value: unknown): Record<string, unknown> | null {
  if (typeof value === 'string') {
    try {
      return parseObjectOrJsonObject(JSON.parse(value) as unknown as object);
    } catch {
      return null;
    }
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function checkFlagStrategies(strategies: readonly StrategyState[]): void {
  const problems = strategies.flatMap(({ strategy: { name, parameters, userListId }, scopes, isReadable }) => [
    ...findFlagStrategyProblems({ name, parameters: isReadable ? parameters : null, hasList: userListId !== null }),
    ...findEnvironmentScopeProblems(scopes.map((scope) => scope.environmentScope)),
  ]);
  const mostScopes = Math.max(0, ...strategies.map(({ scopes }) => scopes.length));
  const all = [...new Set([...problems, ...findStrategyCountProblems(strategies.length, mostScopes)])];
  if (all.length > 0) throw new InvalidWithSentences(all);
}

async function writeFlagStrategies(tx: Tx, changed: readonly StrategyState[]): Promise<void> {
  const { manager } = tx;
  const made = changed.filter(({ strategy }) => strategy.id === undefined).map(({ strategy }) => strategy);
  if (made.length > 0) await manager.insert(FeatureFlagStrategy, made as object[]);
  const kept = changed.filter(({ strategy }) => !made.includes(strategy));
  for (const { strategy, scopes } of kept) {
    const { id, name, parameters, userListId } = strategy;
    await manager.update(FeatureFlagStrategy, id, { name, parameters, userListId } as object);
    const ids = scopes.flatMap((scope) => scope.id ?? []);
    await tx.query('delete from feature_flag_scopes where strategy_id = $1 and id <> all($2::bigint[])', [id, ids]);
  }
  const scopes = changed.flatMap(({ strategy, scopes: own }) =>
    own.map((scope) => Object.assign(scope, { strategyId: strategy.id })),
  );
  const madeScopes = scopes.filter((scope) => scope.id === undefined);
  if (madeScopes.length > 0) await manager.insert(FeatureFlagScope, madeScopes);
  await tx.query(
    `update feature_flag_scopes c set environment_scope = sent.scope
     from unnest($1::bigint[], $2::text[]) sent (id, scope)
     where c.id = sent.id and c.environment_scope <> sent.scope`,
    [scopes.map((scope) => scope.id), scopes.map((scope) => scope.environmentScope)],
  );
}
