import type { ProcessDefinition } from './process';
/** Runs one process in the role that its first argument names. */
export function boot(definition: ProcessDefinition): Promise<void> {
  throw new Error(`${definition.name} cannot start yet`);
}
