import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

const MIB = 1024 * 1024;
/** Requests that are older than this are checked again before they take effect. Units: ms. */
const RECHECKED_MS = 1000;
const BOUNDARY = 'rights-boundary';

/** An upload whose body comes in two halves. `path` is below the packages of the project. */
interface LongUpload {
  readonly method: 'PUT' | 'POST';
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

const CONTENT = Buffer.alloc(2 * MIB, 'late');
const UPLOADS: Readonly<Record<string, LongUpload>> = {
  generic: { method: 'PUT', path: 'generic/late/1.0.0/a.bin', type: 'application/octet-stream', body: CONTENT },
  maven: {
    method: 'PUT',
    path: 'maven/com/acme/late/1.0/late-1.0.jar',
    type: 'application/octet-stream',
    body: CONTENT,
  },
  npm: {
    ...{ method: 'PUT', path: 'npm/late', type: 'application/json' },
    body: Buffer.from(
      JSON.stringify({
        ...{ _id: 'late', name: 'late', 'dist-tags': { latest: '1.0.0' } },
        versions: { '1.0.0': { name: 'late', version: '1.0.0', dist: {} } },
        _attachments: { 'late-1.0.0.tgz': { data: CONTENT.toString('base64'), length: CONTENT.length } },
      }),
    ),
  },
  pypi: {
    ...{ method: 'POST', path: 'pypi', type: `multipart/form-data; boundary=${BOUNDARY}` },
    body: Buffer.concat([
      ...Object.entries({ ':action': 'file_upload', name: 'late', version: '1.0' }).map(([name, value]) =>
        Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
      ),
      Buffer.from(
        `--${BOUNDARY}\r\ncontent-disposition: form-data; name="content"; filename="late-1.0.tar.gz"\r\n\r\n`,
      ),
      CONTENT,
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ]),
  },
};

/** Rights that end while an upload is on its way, in all registries. */
describe('an upload whose rights end meanwhile', () => {
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  beforeAll(async () => {
    owner = await person('keeper');
    project = await projectOf(owner, 'keeps');
  });

  const begin = (upload: LongUpload, uploader: Person): ClientRequest => {
    const sent = request(`${estate.baseUrl}/api/v4/projects/${project.id}/packages/${upload.path}`, {
      method: upload.method,
      headers: {
        ...{ 'private-token': uploader.token, 'content-type': upload.type },
        'content-length': String(upload.body.length),
      },
    });
    sent.write(upload.body.subarray(0, upload.body.length / 2));
    return sent;
  };
  const statusOf = async (sent: ClientRequest): Promise<number> => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode!;
  };
  const listed = async (): Promise<unknown[]> =>
    (await call('GET', `/projects/${project.id}/packages`, { token: owner.token })).body as unknown[];

  it.each(Object.keys(UPLOADS))('is refused at its end, and shows nothing: %s', async (format) => {
    const upload = UPLOADS[format]!;
    const uploader = await person(`late-${format}`);
    await addMember(project.id, uploader, 30, owner);
    const from = performance.now();
    const sent = begin(upload, uploader);
    const answered = statusOf(sent);
    await call('DELETE', `/projects/${project.id}/members/${uploader.id}`, { token: owner.token });
    await eventually(
      () => call('GET', `/projects/${project.id}`, { token: uploader.token }),
      ({ status }) => status === 404 && performance.now() - from > 2 * RECHECKED_MS,
    );
    sent.end(upload.body.subarray(upload.body.length / 2));
    expect([403, 404]).toContain(await answered);
    expect(await listed()).toEqual([]);
  });

  it('is taken from a caller who keeps them', async () => {
    const uploader = await person('late-but-kept');
    await addMember(project.id, uploader, 30, owner);
    const from = performance.now();
    const sent = begin(UPLOADS['generic']!, uploader);
    const answered = statusOf(sent);
    await eventually(
      () => call('GET', `/projects/${project.id}`, { token: uploader.token }),
      ({ status }) => status === 200 && performance.now() - from > 2 * RECHECKED_MS,
    );
    sent.end(CONTENT.subarray(CONTENT.length / 2));
    expect(await answered).toBe(201);
    expect(await listed()).toHaveLength(1);
  });
});
