import { Invalid, lengthProblems } from '@rookery/kernel';
import type { PipelineVariable } from './pipeline-variable.entity';
import type { RowOf } from '@rookery/persistence';

/** A variable as answers show it. */
export type VariableRow = RowOf<PipelineVariable, 'key' | 'value' | 'variableType'>;

const KEY = /^[A-Za-z0-9_]+$/;
const MAX_INPUTS = 20;

/** Variables and inputs of a new pipeline. */
export interface PipelineArguments {
  readonly variables: readonly VariableRow[];
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** Errors: Invalid under `base`, as every refusal to start a pipeline. Source: reference identity-and-import 7.2. */
export function checkArguments({ variables, inputs }: PipelineArguments): void {
  const problems = variables.flatMap(({ key }, index) => [
    ...(KEY.test(key) ? [] : [`Variable key can contain only letters, digits and '_'.`]),
    ...lengthProblems(key, 255).map((problem) => `Variable key ${problem}`),
    ...(variables.findIndex((other) => other.key === key) < index ? [`Duplicate variable name: ${key}`] : []),
  ]);
  if (Object.keys(inputs).length > MAX_INPUTS) problems.push(`There cannot be more than ${MAX_INPUTS} inputs`);
  if (problems.length > 0) throw new Invalid({ base: [...new Set(problems)] });
}
