/** Modules of a checkout of this repository, which may be older than this one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Paths of the module with `startEstate`, the newest first. */
const ESTATE_MODULES = ['tools/processes/estate.mjs', 'tools/estate/estate.mjs'];

/**
 * Loads the `startEstate` of a checkout.
 * @param {string} checkout  its root
 * @returns {Promise<typeof import('../processes/estate.mjs').startEstate>}
 */
export async function loadStartEstate(checkout) {
  const file = ESTATE_MODULES.map((path) => join(checkout, path)).find(existsSync);
  if (!file) throw new Error(`${checkout} is no checkout of Rookery`);
  return (await import(pathToFileURL(file).href)).startEstate;
}
