import type { Viewer } from '@rookery/kernel';
import { requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

export interface ForeignRequest {
  readonly method: Method;
  /** The path of a resource below a foreign parent; the viewer may see both. */
  readonly path: string;
  readonly body?: Params;
}

/**
 * A resource cannot be reached through a foreign parent, whatever the caller may do in both. `untouched` reads the
 * resource, to prove that it is unchanged. Source: reference reliability 7.1 (API1).
 */
export function registerForeignParentTests(o: {
  readonly app: () => TestApp;
  readonly viewer: () => Viewer;
  readonly requests: () => readonly ForeignRequest[] | Promise<readonly ForeignRequest[]>;
  readonly untouched?: () => Promise<unknown>;
}): void {
  it('is not found through a foreign parent, and stays unchanged', async () => {
    const before = await o.untouched?.();
    for (const { method, path, body } of await o.requests()) {
      const response = await requestOf(o.app().as(o.viewer()), method, path).send(body);
      expect({ method, path, status: response.status }).toEqual({ method, path, status: 404 });
    }
    expect(await o.untouched?.()).toEqual(before);
  });
}
