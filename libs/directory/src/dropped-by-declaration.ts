import type { Type } from '@nestjs/common';
import type { AttachedTable, DeletedKind } from '@rookery/persistence';
import { createDeleteWithGroupController, createDeleteWithProjectController } from './dropped-with';

const CONTROLLERS = { project: createDeleteWithProjectController, group: createDeleteWithGroupController } as const;

/**
 * Returns controllers that delete attached rows with their project or group. Each effect has one controller, which
 * deletes the rows of its attachments in their order. `attachments` are those of the service (`attachedTablesIn`).
 */
export function createAttachedRowDeletionControllers(attachments: readonly AttachedTable<never>[]): Type[] {
  return (['project', 'group'] as const).flatMap((kind) => {
    const consumed = attachments.filter((one) => !(one.rows.consumedInWing ?? []).includes(kind));
    return [...groupedByEffect(consumed, kind)].map(([effect, ones]) =>
      CONTROLLERS[kind](
        {
          drop: async (tx, of, ids) => {
            for (const one of ones) await one.deleteRows(tx, of, ids);
          },
        },
        effect,
      ),
    );
  });
}

/** Groups attachments whose rows are deleted with a parent of this kind by the name of their effect, in their order. */
export function groupedByEffect<A extends AttachedTable<never>>(
  attachments: readonly A[],
  kind: DeletedKind,
): ReadonlyMap<string, A[]> {
  const groups = new Map<string, A[]>();
  for (const one of attachments.filter((attachment) => attachment.isDroppedWith(kind))) {
    const effect = one.effectName(kind);
    groups.set(effect, [...(groups.get(effect) ?? []), one]);
  }
  return groups;
}
