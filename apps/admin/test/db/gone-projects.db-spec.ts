import { registerProjectDeletionTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startAdmin } from '../support/app';

let service: SeededService;
beforeAll(async () => void (service = await startAdmin()));
afterAll(() => service.close());

registerProjectDeletionTests({
  service: () => service,
  effect: 'drop-feature-flags',
  tables: [
    'feature_flags_clients',
    'feature_flags_user_lists',
    'feature_flags',
    'feature_flag_strategies',
    'feature_flag_scopes',
    'internal_ids',
  ],
  fill: async (owner, { id }) => {
    const path = `/api/v4/projects/${id}`;
    const { body: list } = await owner
      .post(`${path}/feature_flags_user_lists`)
      .send({ name: 'l', user_xids: '' })
      .expect(201);
    const strategies = [{ name: 'gitlabUserList', user_list_id: list.id, scopes: [{ environment_scope: '*' }] }];
    await owner.post(`${path}/feature_flags`).send({ name: 'f', strategies }).expect(201);
  },
});
