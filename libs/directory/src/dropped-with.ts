import { Controller, Inject } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { groupDeleted, projectDeleted } from '@rookery/contracts';
import type { CollectionDefinition } from '@rookery/persistence';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { Directory } from './directory';

type Droppable = Pick<CollectionDefinition<never>, 'drop'>;

/**
 * A controller for the wing of a collection: what lies in a project goes with it, once the copy knows that it is gone.
 * Shape: `effect` is a lasting name (`drop-pins`), as of `Consume`.
 */
export function droppedWithProjects(things: Droppable, effect: string): Type {
  @Controller()
  class DroppedWithProjects {
    constructor(@Inject(Directory) private readonly directory: Directory) {}

    @Consume(projectDeleted, { effect })
    async drop({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
      const ids = events.map((event) => event.data.project_id);
      await this.directory.gone(tx, 'project', events, ids);
      await things.drop(tx, 'project', ids);
    }
  }
  return DroppedWithProjects;
}

/** The same for what lies in a group. */
export function droppedWithGroups(things: Droppable, effect: string): Type {
  @Controller()
  class DroppedWithGroups {
    constructor(@Inject(Directory) private readonly directory: Directory) {}

    @Consume(groupDeleted, { effect })
    async drop({ tx, events }: EffectBatch<typeof groupDeleted>): Promise<void> {
      const ids = events.map((event) => event.data.group_id);
      await this.directory.gone(tx, 'group', events, ids);
      await things.drop(tx, 'group', ids);
    }
  }
  return DroppedWithGroups;
}
