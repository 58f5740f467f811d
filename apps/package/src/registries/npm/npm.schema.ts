import type { JsonSchema } from '@rookery/api-v4';

/** Schemas of answers for npm clients. Source: reference packages-and-admin 4.4. */

const EMPTY = { type: 'object', properties: {}, additionalProperties: false } as const;
const COUNT = { type: 'integer', description: 'Always 0.' } as const;
const zeroCountSchemas = (...names: readonly string[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, COUNT]));
const NOTHING = { type: 'array', maxItems: 0, description: 'Always empty.' } as const;

const OK = { type: 'boolean', description: 'Always true.' } as const;

/** Success of a change. */
export const DONE: JsonSchema = { type: 'object', properties: { ok: OK }, required: ['ok'] };

export const PUBLISHED: JsonSchema = {
  type: 'object',
  properties: {
    ok: OK,
    id: { type: 'integer', description: 'Id of the package; only of a published version.' },
    name: { type: 'string', description: 'Name of the package; only of a published version.' },
    version: { type: 'string', description: 'Only of a published version.' },
  },
  required: ['ok'],
};

/** Tags and their versions. */
export const TAGS: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };

export const PONG: JsonSchema = { ...EMPTY, description: 'Nothing: the registry is there.' };

export const USER: JsonSchema = {
  type: 'object',
  properties: { username: { type: 'string', description: 'Username of the caller.' } },
  required: ['username'],
};

export const FOUND_NOTHING: JsonSchema = {
  type: 'object',
  properties: {
    objects: NOTHING,
    total: COUNT,
    time: { type: 'string', format: 'date-time', description: 'Time of the answer.' },
  },
  required: ['objects', 'total', 'time'],
};

export const NO_ADVISORIES: JsonSchema = { ...EMPTY, description: 'No advisories.' };

export const NO_AUDIT: JsonSchema = {
  type: 'object',
  properties: {
    actions: NOTHING,
    advisories: { ...EMPTY, description: 'Always empty.' },
    muted: NOTHING,
    metadata: {
      type: 'object',
      description: 'Numbers of findings.',
      properties: {
        vulnerabilities: {
          type: 'object',
          description: 'Numbers by severity.',
          properties: zeroCountSchemas('info', 'low', 'moderate', 'high', 'critical'),
        },
        ...zeroCountSchemas('dependencies', 'devDependencies', 'optionalDependencies', 'totalDependencies'),
      },
    },
  },
  required: ['actions', 'advisories', 'muted', 'metadata'],
};
