import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';
import type { ObjectCounts, MaintenanceBacklog } from '@rookery/git';

/** Each push adds a pack, and each of them makes every read slower. */
const MAX_PACKS = 50;
/** A change through the API adds at least three loose objects. */
const MAX_LOOSE_OBJECTS = 500;
/** Without the graph, a list of commits reads each commit from its pack. */
const MAX_NEW_PACK_BYTES = 16 * 2 ** 20;
/** Each is a file that a list of refs opens. */
const MAX_LOOSE_REFS = 1000;

/** Packs the repository of a project. One repository at a time is packed, so that the others keep memory and disk. */
export const maintainRepository = defineJob('maintain-repository', object({ project_id: int }), {
  key: ({ project_id: id }) => String(id),
  queue: 'maintain-repositories',
  tries: 3,
});

/** Whether a repository has more packs, loose objects or refs than the limits allow. Source: ADR 0186. */
export function needsMaintenance(counts: ObjectCounts & MaintenanceBacklog): boolean {
  const { packs, looseObjects, packBytes, looseRefs } = counts;
  const needsPacking = packs > MAX_PACKS || looseObjects > MAX_LOOSE_OBJECTS;
  return needsPacking || packBytes > MAX_NEW_PACK_BYTES || looseRefs > MAX_LOOSE_REFS;
}
