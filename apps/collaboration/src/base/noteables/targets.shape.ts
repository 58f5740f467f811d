import type { FieldType } from '@rookery/api-v4';
import { nested } from '@rookery/api-v4';
import type { Presenter } from '@rookery/api-v4';
import type { NoteableKind } from './noteable-kinds';

/**
 * Field type of a noteable of any kind, for the OpenAPI document. The schema is filled in by `documentTodoTargets`, which
 * runs before the document is built.
 */
const createNoteableTargetFieldType = () => ({ schema: {} as Record<string, unknown>, write: () => 'null' });
export const targets = {
  listed: createNoteableTargetFieldType(),
  detailed: createNoteableTargetFieldType(),
} satisfies Record<string, FieldType<never>>;

/** Fills in the schemas of `targets` with the kinds of the service. `others` are targets that are not noteables. */
export function documentTodoTargets(kinds: readonly NoteableKind[], others: readonly Presenter<never>[]): void {
  const targeted = kinds.filter(({ abilities }) => abilities.includes('todos'));
  for (const shape of ['listed', 'detailed'] as const) {
    const schemas = [...targeted.map((kind) => kind[shape].presenter), ...others].map((one) => nested(one).schema);
    Object.assign(targets[shape].schema, schemas.length === 1 ? schemas[0] : { anyOf: schemas });
  }
}
