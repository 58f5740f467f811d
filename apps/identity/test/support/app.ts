import type { SignedInViewer } from '@rookery/kernel';
import { applicationSettings } from '@rookery/instance';
import { jobSettings } from '@rookery/jobs';
import { messagingSettings } from '@rookery/messaging';
import { Database, databaseSettingsFor } from '@rookery/persistence';
import { makeViewer, anonymousViewer, startTestApp, testDatabase } from '@rookery/testing';
import type { TestApp, TestAppOptions } from '@rookery/testing';
import type { Agent } from 'supertest';
import { BootstrapCommand } from '../../src/bootstrap/bootstrap.command';
import { bootstrapSettings } from '../../src/bootstrap/bootstrap.config';
import { migrations } from '../../src/database';
import { identitySettings } from '../../src/identity.config';
import { IdentityModule } from '../../src/identity.module';

export const ROOT_TOKEN = 'glpat-rootrootrootrootroot';

/** The identity service with its own database, with `root`, and users created through its API. */
export interface IdentityApp {
  readonly app: TestApp;
  readonly root: Agent;
  readonly anonymous: Agent;
  readonly db: Database;
  readonly databaseUrl: string;
  /** Creates a user and returns their client. */
  person(username: string, over?: Readonly<Record<string, unknown>>): Promise<Person>;
  as(viewer: Partial<SignedInViewer>): Agent;
  /** Starts the same service again over the same database, with other settings. The caller closes it. */
  again(env: Readonly<Record<string, string>>): Promise<TestApp>;
  close(): Promise<void>;
}
export interface Person {
  readonly id: number;
  readonly username: string;
  readonly namespaceId: number;
  readonly client: Agent;
}

/** Starts identity with a root user. `replace` has the form of the same option of `startTestApp`. */
export async function startIdentity(
  env: Readonly<Record<string, string>> = {},
  replace: TestAppOptions['replace'] = new Map(),
): Promise<IdentityApp> {
  const database = await testDatabase('identity', migrations);
  const options: TestAppOptions = {
    service: 'identity',
    module: IdentityModule,
    settings: [
      databaseSettingsFor('identity'),
      messagingSettings,
      jobSettings,
      applicationSettings,
      identitySettings,
      bootstrapSettings,
    ],
    databaseUrl: database.url,
    env: { ROOKERY_ROOT_TOKEN: ROOT_TOKEN, ...env },
    replace,
  };
  const app = await startTestApp(options);
  await app.get(BootstrapCommand).run();
  const root = app.as(makeViewer({ userId: 1, username: 'root', isAdmin: true, scopes: ['api', 'sudo'] }));
  const person = async (username: string, over: Readonly<Record<string, unknown>> = {}): Promise<Person> => {
    const body = {
      username,
      name: `Name of ${username}`,
      email: `${username}@example.com`,
      password: 'correct horse',
      ...over,
    };
    const { body: made }: { body: { id: number; namespace_id: number } } = await root
      .post('/api/v4/users')
      .send(body)
      .expect(201);
    const isExternal = over['external'] === true;
    const client = app.as(makeViewer({ userId: made.id, username, isAdmin: over['admin'] === true, isExternal }));
    return { id: made.id, username, namespaceId: made.namespace_id, client };
  };
  return {
    app,
    root,
    anonymous: app.as(anonymousViewer()),
    db: app.get(Database),
    databaseUrl: database.url,
    person,
    as: (viewer) => app.as(makeViewer(viewer)),
    again: (more) => startTestApp({ ...options, env: { ...options.env, ...more } }),
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}
