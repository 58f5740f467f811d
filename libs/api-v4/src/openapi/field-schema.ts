import type { JsonSchema } from '../answers/answers';
import { fieldsOf, fieldCombinationRulesOf } from '../params/fields';
import type { FieldDeclaration, FieldForm } from '../params/fields';
import { findFieldDescription } from '../answers/field-descriptions';

/** Returns the JSON schema of a field. Its description is that of the decorator, or else that of its name. */
export function fieldSchema({ name, form, common }: FieldDeclaration): JsonSchema {
  const schema = fieldFormSchema(form);
  const deprecated = common.deprecated === undefined ? undefined : `Deprecated: use ${common.deprecated}.`;
  const audience = common.forAdministrators
    ? ['For administrators.', common.about]
    : [common.about ?? findFieldDescription(name)];
  const description = [...audience, deprecated].filter(Boolean).join(' ');
  return {
    ...(common.nullable && typeof schema['type'] === 'string' ? { ...schema, type: [schema['type'], 'null'] } : schema),
    ...(common.default === undefined ? {} : { default: toJsonValue(common.default) }),
    ...(description === '' ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated: true }),
  };
}

/** Returns the JSON schema of a parameter class. `without` are names that are documented elsewhere (the path). */
export function paramsSchema(params: object, without: ReadonlySet<string> = new Set()): JsonSchema {
  const fields = fieldsOf(params).filter((field) => !without.has(field.name));
  const required = fields.filter(isRequired).map((field) => field.name);
  const rules = fieldCombinationRulesOf(params).map((rule) => `${RULE_TEXTS[rule.kind]}: ${rule.names.join(', ')}.`);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
    ...(rules.length === 0 ? {} : { description: rules.join(' ') }),
  };
}

const RULE_TEXTS = {
  atLeastOne: 'At least one of',
  exactlyOne: 'Exactly one of',
  exclusive: 'At most one of',
} as const;

export function isRequired({ common }: FieldDeclaration): boolean {
  return !common.optional && !common.nullable && common.default === undefined;
}

function fieldFormSchema(form: FieldForm): JsonSchema {
  switch (form.kind) {
    case 'int':
      return { type: 'integer', ...boundIfDefined('minimum', form.min), ...boundIfDefined('maximum', form.max) };
    case 'float':
      return { type: 'number', ...boundIfDefined('minimum', form.min), ...boundIfDefined('maximum', form.max) };
    case 'text':
      return textSchema(form);
    case 'flag':
      return { type: 'boolean' };
    case 'instant':
      return { type: 'string', format: 'date-time' };
    case 'day':
      return { type: 'string', format: 'date' };
    case 'oneOf':
      return {
        type: form.values.every((value) => typeof value === 'number') ? 'integer' : 'string',
        enum: [...form.values],
      };
    case 'list':
      return { type: 'array', maxItems: form.max, items: listItemSchema(form.of) };
    case 'hash':
      return { type: 'object', additionalProperties: HASH_ITEMS[form.of] };
    case 'hashes':
      return { type: 'array', maxItems: form.max, items: paramsSchema(form.of()) };
    case 'group':
      return paramsSchema(form.of());
    case 'idOrPath':
      return { type: ['integer', 'string'] };
    case 'upload':
      return { type: 'string', format: 'binary' };
    case 'any':
      return {};
  }
}

const HASH_ITEMS = { text: { type: 'string' }, flag: { type: 'boolean' }, any: {} } as const;

function listItemSchema(itemKind: (FieldForm & { kind: 'list' })['of']): JsonSchema {
  if (itemKind === 'int') return { type: 'integer' };
  return itemKind === 'text' ? { type: 'string' } : { type: 'string', enum: [...itemKind.oneOf] };
}

function textSchema({ min, max, pattern, refuseBlank }: FieldForm & { kind: 'text' }): JsonSchema {
  return {
    type: 'string',
    ...boundIfDefined('minLength', min ?? (refuseBlank ? 1 : undefined)),
    ...boundIfDefined('maxLength', max),
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
  };
}

function boundIfDefined(name: string, value: number | undefined): JsonSchema {
  return value === undefined ? {} : { [name]: value };
}

function toJsonValue(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
