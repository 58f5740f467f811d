/**
 * Uploads of small files to all registries, as their clients send them, and requests whose bodies can be cut.
 *
 * @import { DrillClient } from '../client.mjs'
 * @typedef {'generic' | 'maven' | 'npm' | 'pypi'} Format
 * @typedef {{ format: Format, method: string, path: string, headers: Record<string, string>, body: Buffer, content: Buffer,
 *   fileName: string, download: string }} Upload `download` and `path` are below `/api/v4`
 * @typedef {{ status: number, text: string }} Answer
 */
import { createHash } from 'node:crypto';
import { request } from 'node:http';

/** @type {Format[]} */
export const FORMATS = ['generic', 'maven', 'npm', 'pypi'];
const BOUNDARY = 'drill-boundary';

/** @param {Buffer} content */
export const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/**
 * The upload of a file. The name is unique in the project for a number; npm, PyPI and Maven get a version of one package.
 * @param {number} project
 * @param {Format} format
 * @param {number} n
 * @param {Buffer} content
 * @returns {Upload}
 */
export function uploadOf(project, format, n, content) {
  const base = `/projects/${project}/packages`;
  const bytes = { 'content-type': 'application/octet-stream' };
  const shared = { format, content };
  switch (format) {
    case 'generic': {
      const path = `${base}/generic/tool/1.0.0/file-${n}.bin`;
      const fileName = `file-${n}.bin`;
      return { ...shared, method: 'PUT', path, headers: bytes, body: content, fileName, download: path };
    }
    case 'maven': {
      const path = `${base}/maven/com/acme/app/1.${n}/app-1.${n}.jar`;
      const fileName = `app-1.${n}.jar`;
      return { ...shared, method: 'PUT', path, headers: bytes, body: content, fileName, download: path };
    }
    case 'npm': {
      const [name, version] = ['drilled', `1.0.${n}`];
      const fileName = `${name}-${version}.tgz`;
      const attachment = { content_type: 'application/octet-stream', data: content.toString('base64') };
      const document = {
        ...{ _id: name, name, 'dist-tags': { latest: version } },
        versions: { [version]: { name, version, dist: {} } },
        _attachments: { [fileName]: { ...attachment, length: content.length } },
      };
      const headers = { 'content-type': 'application/json' };
      const body = Buffer.from(JSON.stringify(document));
      return {
        ...{ ...shared, method: 'PUT', path: `${base}/npm/${name}`, headers, body, fileName },
        download: `${base}/npm/${name}/-/${fileName}`,
      };
    }
    case 'pypi': {
      const fileName = `drilled-1.${n}.tar.gz`;
      const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
      const body = multipartFormOf({ ':action': 'file_upload', name: 'drilled', version: `1.${n}` }, fileName, content);
      return {
        ...{ ...shared, method: 'POST', path: `${base}/pypi`, headers, body, fileName },
        download: `${base}/pypi/files/${sha256(content)}/${fileName}`,
      };
    }
  }
}

/**
 * @param {Record<string, string>} fields
 * @param {string} fileName
 * @param {Buffer} content
 */
function multipartFormOf(fields, fileName, content) {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="content"; filename="${fileName}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(parts.join('') + head), content, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

/**
 * Sends an upload, or its first `cutAt` bytes; the connection is then closed. Resolves to null without an answer.
 * @param {DrillClient} client
 * @param {Upload} upload
 * @param {{ token: string, cutAt?: number | undefined }} options
 * @returns {Promise<Answer | null>}
 */
export function sendUpload({ estate }, { method, path, headers, body }, { token, cutAt }) {
  return new Promise((resolve) => {
    const outgoing = request(`${estate.baseUrl}/api/v4${path}`, {
      method,
      headers: { ...headers, 'private-token': token, 'content-length': String(body.length) },
      timeout: 30_000,
    });
    outgoing.on('error', () => resolve(null)).on('timeout', () => outgoing.destroy());
    outgoing.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('error', () => resolve(null));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    if (cutAt === undefined) return void outgoing.end(body);
    outgoing.write(body.subarray(0, cutAt), () => setTimeout(() => outgoing.destroy(), Math.random() * 30));
  });
}
