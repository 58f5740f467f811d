import type { ImportTargetAnswer } from '@rookery/contracts';
import type { ImportProblem } from './import-starter';

const MISSING_NAMESPACE = 'Namespace or group to import repository into does not exist.';
const LATE = 'The import took too long to start.';

/**
 * Describes why no import starts. `forbiddenText` is the text for a namespace where the user may not create projects, which
 * differs between hosts.
 */
export function describeImportProblem(
  problem: ImportProblem | { readonly outcome: Exclude<ImportTargetAnswer['outcome'], 'allowed'> },
  forbiddenText: string,
): string {
  if (problem.outcome === 'invalid') return problem.problems.join(', ');
  return { late: LATE, missing: MISSING_NAMESPACE, forbidden: forbiddenText }[problem.outcome];
}
