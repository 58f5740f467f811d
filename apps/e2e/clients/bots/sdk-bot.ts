import { createIssue, listProjectIssues, getProject } from './sdk';
import { client } from './sdk/client.gen';

/** A bot that lists the issues of a project, with the functions of another generator. Prints the results as JSON. */
const [baseUrl = '', token = '', id = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, auth: token });

async function main(): Promise<void> {
  const path = { id };
  const made = await createIssue({
    path,
    body: { title: 'Seen by another bot', confidential: true },
    throwOnError: true,
  });
  const issues = await listProjectIssues({
    path,
    query: { state: 'opened', 'labels[]': ['nest'] },
    throwOnError: true,
  });
  const titles = issues.data.map(({ title, labels }) => `${title} (${labels.join(', ')})`);
  const missing = await getProject({ path: { id: 'no/where' } });
  const refused = [missing.response?.status, missing.error];
  process.stdout.write(JSON.stringify({ confidential: made.data.confidential, titles, missing: refused }));
}

void main();
