import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';
import type { ObjectCounts } from '@rookery/git';

/** Each push adds a pack, and each of them makes every read slower. */
const MAX_PACKS = 50;
/** A change through the API adds at least three loose objects. */
const MAX_LOOSE_OBJECTS = 500;

/** Packs the repository of a project. One repository at a time is packed, so that the others keep memory and disk. */
export const maintainRepository = defineJob('maintain-repository', object({ project_id: int }), {
  key: ({ project_id: id }) => String(id),
  queue: 'maintain-repositories',
  tries: 3,
});

/** Whether a repository has more packs or loose objects than the limits allow. Source: ADR 0186. */
export function needsMaintenance({ packs, looseObjects }: ObjectCounts): boolean {
  return packs > MAX_PACKS || looseObjects > MAX_LOOSE_OBJECTS;
}
