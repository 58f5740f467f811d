import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import type { Agent, Test } from 'supertest';
import type { Cast } from './app';

type Body = Readonly<Record<string, unknown>>;
type IssueIid = { readonly iid: number };

/** Actions on issues of the current project, by the owner unless another user is given. */
export function issueActions(
  at: () => { readonly service: SeededService; readonly project: DirectoryProject; readonly cast: Cast },
) {
  const issues = () => `/api/v4/projects/${at().project.id}/issues`;
  const by = (user: SeededUser): Agent => at().service.app.as(at().service.seed.viewer(user));
  return {
    by,
    async anIssue(fields: Body = {}, author = at().cast.owner): Promise<{ id: number; iid: number }> {
      const { body } = await by(author)
        .post(issues())
        .send({ title: 'An issue', ...fields })
        .expect(201);
      return body;
    },
    async comment(issue: IssueIid, text: string, author = at().cast.owner, fields: Body = {}): Promise<{ id: number }> {
      const { body } = await by(author)
        .post(`${issues()}/${issue.iid}/notes`)
        .send({ body: text, ...fields })
        .expect(201);
      return body;
    },
    edit(issue: IssueIid, fields: Body, author = at().cast.owner): Test {
      return by(author).put(`${issues()}/${issue.iid}`).send(fields).expect(200);
    },
  };
}
