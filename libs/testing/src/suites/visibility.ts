import type { Role, Viewer, Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import { requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

/** How somebody stands to a project or group. */
export type Standing = 'anonymous' | 'external' | 'outsider' | Role | 'admin';
const STANDINGS: readonly Standing[] = [
  'anonymous',
  'external',
  'outsider',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'admin',
];

export interface Standpoint {
  readonly viewer: Viewer;
  readonly path: string;
  readonly method?: Method;
  readonly body?: Params;
}

export interface VisibilityTable {
  readonly app: () => TestApp;
  /** A parent of this visibility, and a viewer who stands like this to it. */
  readonly from: (visibility: Visibility, standing: Standing) => Promise<Standpoint> | Standpoint;
  /** Status of somebody who sees the parent: 200 without. */
  readonly seen?: (standing: Standing, visibility: Visibility) => number;
  /** Status of an anonymous caller wherever they ask, for endpoints that want a token. */
  readonly anonymous?: 401;
}

/**
 * Every standing against every visibility: whoever may not know the parent is told 404, everybody else what `seen`
 * says. Source: reference identity-and-import 1.5, 12; reference reliability 7.1 (API1).
 */
export function visibility(table: VisibilityTable): void {
  describe.each(VISIBILITIES)('in a %s parent', (level) => {
    it.each(STANDINGS)('tells %s only what they may know', async (standing) => {
      const { viewer, path, method = 'GET', body } = await table.from(level, standing);
      const response = await requestOf(table.app().as(viewer), method, path).send(body);
      const wanted = expectation(table, level, standing);
      expect({ status: response.status, text: wanted === response.status ? '' : response.text }).toEqual({
        status: wanted,
        text: '',
      });
    });
  });
}

function expectation(table: VisibilityTable, level: Visibility, standing: Standing): number {
  if (standing === 'anonymous' && table.anonymous !== undefined) return table.anonymous;
  return isVisible(level, standing) ? (table.seen?.(standing, level) ?? 200) : 404;
}

function isVisible(level: Visibility, standing: Standing): boolean {
  if (level === 'public') return true;
  if (standing === 'anonymous' || standing === 'external') return false;
  return level === 'internal' || standing !== 'outsider';
}
