import type { FieldType } from '@rookery/api-v4';
import { nested } from '@rookery/api-v4';
import type { NoteableKind } from './noteable-kinds';

/**
 * A thing of any kind in the place of a field, as the OpenAPI document names it. Shape: the schema is complete once the
 * service's module has brought its kinds together, which is before anything is documented.
 */
const target = () => ({ schema: {} as Record<string, unknown>, write: () => 'null' });
export const targets = { listed: target(), detailed: target() } satisfies Record<string, FieldType<never>>;

/** Says which kinds there are, for the document. */
export function documentTargets(kinds: readonly NoteableKind[]): void {
  const targeted = kinds.filter(({ abilities }) => abilities.includes('todos'));
  for (const shape of ['listed', 'detailed'] as const) {
    const schemas = targeted.map((kind) => nested(kind[shape].presenter).schema);
    Object.assign(targets[shape].schema, schemas.length === 1 ? schemas[0] : { anyOf: schemas });
  }
}
