import type { JsonSchema } from '@rookery/api-v4';
import { VISIBILITIES } from '@rookery/kernel';

const integer = { type: 'integer' };
const text = { type: 'string' };
const nullableSchema = (type: string): JsonSchema => ({ type: [type, 'null'] });
const objectSchema = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const group = objectSchema({
  id: integer,
  web_url: text,
  name: text,
  parent_id: nullableSchema('integer'),
  organization_id: integer,
  access_levels: integer,
  visibility: { ...text, enum: [...VISIBILITIES] },
});

const project = objectSchema({
  id: integer,
  description: nullableSchema('string'),
  name: text,
  name_with_namespace: text,
  path: text,
  path_with_namespace: text,
  created_at: { type: 'string', format: 'date-time' },
  access_levels: objectSchema({
    project_access_level: nullableSchema('integer'),
    group_access_level: nullableSchema('integer'),
  }),
  visibility: { ...text, enum: [...VISIBILITIES] },
  web_url: text,
  namespace: objectSchema({
    id: integer,
    name: text,
    path: text,
    kind: { ...text, enum: ['group', 'user'] },
    full_path: text,
    parent_id: nullableSchema('integer'),
    avatar_url: nullableSchema('string'),
    web_url: text,
  }),
});

/** Groups and projects that a token can access. Source: reference identity-and-import 4.7. */
export const tokenAssociations = objectSchema({
  groups: { type: 'array', items: group },
  projects: { type: 'array', items: project },
});
