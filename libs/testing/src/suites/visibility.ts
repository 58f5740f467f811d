import type { Role, Viewer, Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import { requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

/** Relations of a viewer to a project or group. */
export type RoleCase = 'anonymous' | 'external' | 'outsider' | Role | 'admin';
const STANDINGS: readonly RoleCase[] = [
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

interface ViewerRequest {
  readonly viewer: Viewer;
  readonly path: string;
  readonly method?: Method;
  readonly body?: Params;
}

export interface VisibilityTable {
  readonly app: () => TestApp;
  /** A parent of this visibility, and a viewer with this relation to it. */
  readonly from: (visibility: Visibility, standing: RoleCase) => Promise<ViewerRequest> | ViewerRequest;
  /** Status for a viewer who sees the parent; default 200. */
  readonly seen?: (standing: RoleCase, visibility: Visibility) => number;
  /** Status for an anonymous caller in any visibility, for endpoints that require a token. */
  readonly anonymous?: 401;
}

/**
 * Every relation with every visibility: a viewer who may not know the parent gets 404, every other viewer the status
 * `seen`. Source: reference identity-and-import 1.5, 12; reference reliability 7.1 (API1).
 */
export function registerVisibilityTests(table: VisibilityTable): void {
  describe.each(VISIBILITIES)('in a %s parent', (level) => {
    it.each(STANDINGS)('shows %s only what they may see', async (standing) => {
      const { viewer, path, method = 'GET', body } = await table.from(level, standing);
      const response = await requestOf(table.app().as(viewer), method, path).send(body);
      const wanted = expectedStatus(table, level, standing);
      expect({ status: response.status, text: wanted === response.status ? '' : response.text }).toEqual({
        status: wanted,
        text: '',
      });
    });
  });
}

function expectedStatus(table: VisibilityTable, level: Visibility, roleCase: RoleCase): number {
  if (roleCase === 'anonymous' && table.anonymous !== undefined) return table.anonymous;
  return isLevelVisibleToRole(level, roleCase) ? (table.seen?.(roleCase, level) ?? 200) : 404;
}

function isLevelVisibleToRole(level: Visibility, roleCase: RoleCase): boolean {
  if (level === 'public') return true;
  if (roleCase === 'anonymous' || roleCase === 'external') return false;
  return level === 'internal' || roleCase !== 'outsider';
}
