import { ModulesContainer } from '@nestjs/core';
import { PATTERN_EXTRAS_METADATA } from '@nestjs/microservices/constants';
import { projectDeleted } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import type { EffectBatch } from '@rookery/messaging';
import { Work } from '@rookery/persistence';
import type { Agent } from 'supertest';
import type { TestApp } from '../app';
import type { SeededService } from '../seeded-service';

type ProjectDeletions = EffectBatch<typeof projectDeleted>;
type DeletionHandler = (this: unknown, batch: ProjectDeletions) => Promise<void>;
/** Metadata that `Consume` attaches to a method. */
interface EffectMetadata {
  readonly effect: string;
  readonly of: unknown;
}

/**
 * Rows of a project are deleted with it: only after the service's copy of the directory has the deletion, and without
 * touching rows of another project. `effect` is the name of the wing's effect (`drop-pins`). `fill` inserts rows into
 * each of the tables, as an owner.
 */
export function registerProjectDeletionTests(o: {
  readonly service: () => SeededService;
  readonly effect: string;
  readonly tables: readonly string[];
  readonly fill: (owner: Agent, project: DirectoryProject) => Promise<unknown>;
}): void {
  it(`is deleted with the project (${o.effect})`, async () => {
    const { app, seed, database } = o.service();
    const counts = async (): Promise<number[]> => {
      const sql = o.tables.map((table) => `(select count(*)::int from ${table})`).join(', ');
      const [row] = await database.query<{ counts: number[] }>(`select array[${sql}] as counts`);
      return row!.counts;
    };
    const filled = async (): Promise<DirectoryProject> => {
      const [owner, project] = [await seed.user(), await seed.project()];
      await seed.member(owner, project, 'owner');
      await o.fill(app.as(seed.viewer(owner)), project);
      return project;
    };
    const drop = ({ id }: DirectoryProject): Promise<void> =>
      app.get(Work).run((tx) => findEffectHandler(app, o.effect)({ tx, events: [projectDeletionOf(id)] }));

    const others = await counts();
    await filled();
    const kept = await counts();
    const project = await filled();
    const all = await counts();
    await drop(project);
    expect(await counts()).toEqual(all);
    await seed.remove('projects', project.id);
    await drop(project);
    expect(await counts()).toEqual(kept);
    for (const [at, table] of o.tables.entries()) {
      expect({ table, rows: kept[at]! - others[at]! }).not.toEqual({ table, rows: 0 });
      expect({ table, rows: all[at]! - kept[at]! }).not.toEqual({ table, rows: 0 });
    }
  });
}

function projectDeletionOf(id: number): ProjectDeletions['events'][number] {
  const about = { aggregateType: 'project', aggregateId: id, actorId: null };
  return { id: 'x', time: new Date().toISOString(), ...about, data: { project_id: id } };
}

/** The handler of a wing for deleted projects. Errors: a plain Error when no handler has that name. */
function findEffectHandler(app: TestApp, effect: string): (batch: ProjectDeletions) => Promise<void> {
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const { instance } of controllers.values()) {
      const prototype = Object.getPrototypeOf(instance) as object;
      for (const { value } of Object.values(Object.getOwnPropertyDescriptors(prototype)) as {
        value?: DeletionHandler;
      }[]) {
        const extras = (value && Reflect.getMetadata(PATTERN_EXTRAS_METADATA, value)) as
          | Partial<EffectMetadata>
          | undefined;
        if (extras?.effect === effect && extras.of === projectDeleted) return (batch) => value!.call(instance, batch);
      }
    }
  }
  throw new Error(`no handler has the effect ${effect} on ${projectDeleted.subject}`);
}
