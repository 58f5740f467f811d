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
 * Separates the environments of several processes, which the supervisor packs into one. Shape: `ESTATE_ENVIRONMENTS` is
 * an object of the variables of each process to boot, by its name, as JSON; all other variables are common. It is
 * deleted from `env`, so that programs which this process starts do not inherit keys. The default instance id has the
 * name of its process, because all have the same process id.
 * Errors: ConfigurationError without the variable, which only the supervisor sets.
 * Source: ADR 0197.
 */
export function takeEnvironments(env: Record<string, string | undefined>): Environments {
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
