import { Injectable } from '@nestjs/common';
import { INTERNAL_PATHS, maxObjectsPerRequest } from '@rookery/contracts';
import type { ImportObjectsAnswer, ImportObjectsRequest, UnimportedObject } from '@rookery/contracts';
import { InternalRoutes } from '@rookery/platform';
import type { InternalRouteClient } from '@rookery/platform';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 60_000;
/** Maximum size of the objects in one request, whose whole body may have 1 MiB. Units: bytes. */
const MAX_BYTES = 900_000;

/** Writes objects to projects in collaboration. Source: ADR 0195. */
@Injectable()
export class ImportObjectsClient {
  private readonly route: InternalRouteClient<ImportObjectsRequest, ImportObjectsAnswer>;

  constructor(routes: InternalRoutes) {
    const limits = { connections: 2, maxWaitMs: MAX_WAIT_MS };
    this.route = routes.createClient('collaboration', INTERNAL_PATHS.importObjects, limits);
  }

  /** Writes objects in their order, in batches. Returns those that were not written. Errors: a plain Error. */
  async writeObjects(request: ImportObjectsRequest): Promise<readonly UnimportedObject[]> {
    const sizes = request.objects.map((object) => Buffer.byteLength(JSON.stringify(object)));
    const failed: UnimportedObject[] = [];
    const most = maxObjectsPerRequest(request.kind);
    let batch: number[] = [];
    let bytes = 0;
    for (const [index, size] of sizes.entries()) {
      if (size > MAX_BYTES) {
        failed.push({ index, message: 'Its text is too long.' });
        continue;
      }
      if (bytes + size > MAX_BYTES || batch.length === most) {
        failed.push(...(await this.sendObjects(request, batch)));
        [batch, bytes] = [[], 0];
      }
      batch.push(index);
      bytes += size;
    }
    if (batch.length > 0) failed.push(...(await this.sendObjects(request, batch)));
    return failed;
  }

  private async sendObjects(
    request: ImportObjectsRequest,
    indexes: readonly number[],
  ): Promise<readonly UnimportedObject[]> {
    const { failed } = await this.route.ask({ ...request, objects: indexes.map((index) => request.objects[index]!) });
    return failed.map(({ index, message }) => ({ index: indexes[index]!, message }));
  }
}
