import type { SettingsDefinition } from './settings';

/**
 * Prefixes that only we use, so that an undeclared variable with one is a mistake. Prefixes that other software uses
 * too (`DATABASE_`, `NATS_`, `SMTP_`, `LOG_`) are not checked. Source: ADR 0010.
 * @public The generators read it from the built file.
 */
export const OUR_PREFIXES: readonly string[] = [
  'ROOKERY_',
  'OUTBOX_',
  'INBOX_',
  'RELAY_',
  'DEAD_LETTER_',
  'CONSUMER_',
  'DIRECTORY_',
  'EGRESS_',
  'GATEWAY_',
  'GEO_',
  'JOBS_',
  'MAILER_',
  'NOTES_',
  'REPOSITORY_',
];

/** Variables with a checked prefix that are read by one process or tool but visible to all. */
export const ESTATE_VARIABLES: readonly string[] = [
  'ROOKERY_DATA',
  'ROOKERY_SEED',
  'ROOKERY_LAYOUT',
  'ROOKERY_ROOT_TOKEN',
  'ROOKERY_ROOT_EMAIL',
  'ROOKERY_DEFAULT_PLAN',
  'ROOKERY_EXTERNAL_URL',
  'ROOKERY_INTERNAL_KEYS',
  'ROOKERY_CONTEXT_KEYS',
  'ROOKERY_INSTANCE_ID',
  'ROOKERY_REPOSITORIES',
  'ROOKERY_STRICT_PARAMETERS',
  'NOTES_PER_NOTEABLE_COUNT',
];

/** Kubernetes and old Docker links put `<SERVICE>_PORT…` and `<SERVICE>_SERVICE_HOST` into every container. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)?$/;

/**
 * Problems of undeclared variables with a prefix of ours. A prefix is checked in the processes that declare a setting
 * with it, `ROOKERY_` in all: one environment may serve all processes.
 */
export function unknownVariables(
  definitions: readonly SettingsDefinition[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const declared = new Set<string>(ESTATE_VARIABLES.flatMap((name) => [name, `${name}_FILE`]));
  const prefixes = new Set(['ROOKERY_']);
  for (const field of definitions.flatMap((definition) => Object.values(definition.fields))) {
    declared.add(field.env);
    if (field.isSecret) declared.add(`${field.env}_FILE`);
    for (const prefix of OUR_PREFIXES) if (field.env.startsWith(prefix)) prefixes.add(prefix);
  }
  return Object.keys(env)
    .filter((name) => [...prefixes].some((prefix) => name.startsWith(prefix)))
    .filter((name) => !declared.has(name) && !SERVICE_LINK.test(name))
    .sort()
    .map((name) => `${name} is not known${suggestVariableName(name, declared)}`);
}

function suggestVariableName(name: string, declared: ReadonlySet<string>): string {
  let best: { name: string; distance: number } | undefined;
  for (const candidate of declared) {
    const distance = editDistance(name, candidate);
    if (distance <= 3 && distance < (best?.distance ?? Infinity)) best = { name: candidate, distance };
  }
  return best ? `; is ${best.name} meant?` : '';
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
