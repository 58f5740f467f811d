import { Controller, Inject } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { groupDeleted, projectDeleted } from '@rookery/contracts';
import type { CollectionDefinition } from '@rookery/persistence';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { Directory } from './directory';

type DroppableRows = Pick<CollectionDefinition<never>, 'drop'>;

/**
 * Returns a controller that deletes the rows of a collection with their project, once the copy shows the project as
 * deleted. `effect` is a permanent name (`drop-pins`), as in `Consume`.
 */
export function createDeleteWithProjectController(collection: DroppableRows, effect: string): Type {
  @Controller()
  class DroppedWithProjects {
    constructor(@Inject(Directory) private readonly directory: Directory) {}

    @Consume(projectDeleted, { effect })
    async drop({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
      const ids = events.map((event) => event.data.project_id);
      await this.directory.assertDeleted(tx, 'project', events, ids);
      await collection.drop(tx, 'project', ids);
    }
  }
  return DroppedWithProjects;
}

/** Returns a controller that deletes the rows of a collection with their group, as `createDeleteWithProjectController`. */
export function createDeleteWithGroupController(collection: DroppableRows, effect: string): Type {
  @Controller()
  class DroppedWithGroups {
    constructor(@Inject(Directory) private readonly directory: Directory) {}

    @Consume(groupDeleted, { effect })
    async drop({ tx, events }: EffectBatch<typeof groupDeleted>): Promise<void> {
      const ids = events.map((event) => event.data.group_id);
      await this.directory.assertDeleted(tx, 'group', events, ids);
      await collection.drop(tx, 'group', ids);
    }
  }
  return DroppedWithGroups;
}
