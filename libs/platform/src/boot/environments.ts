import { hostname } from 'node:os';
import { ConfigurationError } from '../settings/settings';

/** Environment variables of one process. */
export type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = 'ESTATE_ENVIRONMENTS';
const INSTANCE = 'ROOKERY_INSTANCE_ID';

/** Environments of several processes, from one. */
export interface Environments {
  has(name: string): boolean;
  of(name: string): Environment;
}

/**
 * Separates the environments of several processes, which the supervisor packs into one. `ESTATE_ENVIRONMENTS` is a JSON
 * object with the variables of each process by name; all other variables are common. The variable is deleted from
 * `env`, so that child processes do not inherit keys. Each instance id, configured or default, ends with the name of
 * the process, because all definitions share one process id.
 * Errors: ConfigurationError without the variable, which only the supervisor sets.
 * Source: ADR 0197.
 */
export function unpackProcessEnvironments(env: Record<string, string | undefined>): Environments {
  const { [VARIABLE]: text, ...common } = env;
  if (!text) throw new ConfigurationError([`${VARIABLE} is missing: start this layout with npm start -- --one`]);
  delete env[VARIABLE];
  const own = JSON.parse(text) as Readonly<Record<string, Environment>>;
  const instance = (name: string): string => `${common[INSTANCE] || `${hostname()}-${process.pid}`}-${name}`;
  return {
    has: (name) => Object.hasOwn(own, name),
    of: (name) => ({ ...common, ...own[name], [INSTANCE]: instance(name) }),
  };
}
