import { ImportRefused } from '@rookery/kernel';
import { describeImportProblem } from './target-problems';

const FORBIDDEN = "You don't have permissions to import this project";

/** Creates the refusal of an import from a repository host. Source: reference identity-and-import 6.4, 6.5. */
export function repohostRefusal(why: ImportRefused['why'], detail: string | readonly string[]): ImportRefused {
  return new ImportRefused(why, 'message', detail);
}

/** Creates the refusal of a namespace or project. */
export function repohostTargetRefusal(problem: Parameters<typeof describeImportProblem>[0]): ImportRefused {
  const why = problem.outcome === 'forbidden' ? 'forbidden' : 'unprocessable';
  return repohostRefusal(why, describeImportProblem(problem, FORBIDDEN));
}
