import type { Viewer } from '@rookery/kernel';
import { requestOf } from '../agent';
import type { Method, Params } from '../agent';
import type { TestApp } from '../app';

export interface ForeignRequest {
  readonly method: Method;
  /** The path of a thing below a parent that is not its own, both visible to the viewer. */
  readonly path: string;
  readonly body?: Params;
}

/**
 * A thing cannot be reached through a parent that is not its own, whatever the caller may do in both.
 * Shape: `untouched` reads the thing, to see that nothing changed it. Source: reference reliability 7.1 (API1).
 */
export function foreignId(o: {
  readonly app: () => TestApp;
  readonly viewer: () => Viewer;
  readonly requests: () => readonly ForeignRequest[] | Promise<readonly ForeignRequest[]>;
  readonly untouched?: () => Promise<unknown>;
}): void {
  it('is not found through a foreign parent, and stays as it is', async () => {
    const before = await o.untouched?.();
    for (const { method, path, body } of await o.requests()) {
      const response = await requestOf(o.app().as(o.viewer()), method, path).send(body);
      expect({ method, path, status: response.status }).toEqual({ method, path, status: 404 });
    }
    expect(await o.untouched?.()).toEqual(before);
  });
}
